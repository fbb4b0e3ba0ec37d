import { generateKeyPairSync, randomBytes, type KeyObject } from "node:crypto";

import {
  identityKeyFromBytes,
  publicKeyFromBytes,
  type IdentityKey,
  type PublicKey,
  type Result,
} from "@weft/protocol";

/** Keys of a node that outlive its connections. */
export type NodeIdentity = {
  readonly identityKey: IdentityKey;
  readonly privateKey: KeyObject;
  readonly publicKey: PublicKey;
  readonly counterEpoch: bigint;
};

export function makeNodeIdentity(): NodeIdentity {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const wireguard = Uint8Array.from(randomBytes(32), (byte, place) => (place === 31 ? byte & 0x7f : byte));
  return {
    identityKey: must(identityKeyFromBytes(Buffer.from(x, "base64url"))),
    privateKey,
    publicKey: must(publicKeyFromBytes(wireguard)),
    counterEpoch: randomBytes(8).readBigUInt64BE(),
  };
}

/** The value of a result; throws where there is none. */
export function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
