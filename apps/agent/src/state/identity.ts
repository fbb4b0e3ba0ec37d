import { createPrivateKey, createPublicKey, randomBytes, sign, verify, type KeyObject } from "node:crypto";

import {
  fromBase64Url,
  identityKeyFromBytes,
  publicKeyFromBytes,
  keyBytes,
  Secret,
  toBase64Url,
  type IdentityKey,
  type PublicKey,
  type ServerKey,
} from "@weft/protocol";

/** The two key pairs of a node. Private keys are made here and never leave the host. */
export type Identity = {
  readonly identityKey: IdentityKey;
  readonly publicKey: PublicKey;
  /** Ed25519 seed, 32 bytes. */
  readonly identitySeed: Secret<Uint8Array>;
  /** X25519 private key, 32 bytes. */
  readonly wireguardKey: Secret<Uint8Array>;
};

/** Makes a new node. */
export function makeIdentity(): Identity {
  return identityFrom(randomBytes(32), randomBytes(32));
}

/** Rebuilds a node from its two private keys. */
export function identityFrom(identitySeed: Uint8Array, wireguardKey: Uint8Array): Identity {
  const identityKey = identityKeyFromBytes(publicHalf("ed25519", identitySeed));
  const publicKey = publicKeyFromBytes(publicHalf("x25519", wireguardKey));
  if (!identityKey.ok || !publicKey.ok) throw new Error("a public key of 32 bytes is a key");
  return {
    identityKey: identityKey.value,
    publicKey: publicKey.value,
    identitySeed: new Secret(Uint8Array.from(identitySeed)),
    wireguardKey: new Secret(Uint8Array.from(wireguardKey)),
  };
}

/** Signs with the identity key. */
export function signWithIdentity(identity: Identity, bytes: Uint8Array): Uint8Array {
  return sign(null, bytes, privateKeyOf("ed25519", identity.identitySeed.expose()));
}

/** Checks a signature of the control plane. */
export function verifyServerSignature(serverKey: ServerKey, bytes: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: toBase64Url(keyBytes(serverKey)) },
    format: "jwk",
  });
  return verify(null, bytes, key, signature);
}

type Curve = "ed25519" | "x25519";

function publicHalf(curve: Curve, privateBytes: Uint8Array): Uint8Array {
  const jwk = createPublicKey(privateKeyOf(curve, privateBytes)).export({ format: "jwk" });
  const bytes = fromBase64Url(jwk.x ?? "");
  if (!bytes.ok) throw new Error("an exported key is base64");
  return bytes.value;
}

function privateKeyOf(curve: Curve, bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD[curve], bytes]), format: "der", type: "pkcs8" });
}

/** The fixed bytes in front of a raw 32-byte private key (RFC 8410). */
const PKCS8_HEAD: { readonly [curve in Curve]: Uint8Array } = {
  ed25519: Buffer.from("302e020100300506032b657004220420", "hex"),
  x25519: Buffer.from("302e020100300506032b656e04220420", "hex"),
};
