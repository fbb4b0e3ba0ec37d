import { randomBytes } from "node:crypto";
import { type PublicKey, publicKeyFromBytes, Secret } from "@weft/protocol";
import { KEY_BYTES } from "./core/handshake/primitives.ts";
import { createNodePrimitives } from "./io/node-primitives.ts";

export type KeyPair = { readonly privateKey: Secret<Uint8Array>; readonly publicKey: PublicKey };

/** Makes a WireGuard key pair on this machine; the private half is clamped, as `wg genkey` does it. */
export function generateKeyPair(): KeyPair {
  const bytes = new Uint8Array(randomBytes(KEY_BYTES));
  bytes[0] = (bytes[0] ?? 0) & 0b1111_1000;
  bytes[31] = ((bytes[31] ?? 0) & 0b0111_1111) | 0b0100_0000;
  const privateKey = new Secret(bytes);
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

/** The public half of a private key of 32 bytes; another length is a mistake of the caller and throws. */
export function publicKeyOf(privateKey: Secret<Uint8Array>): PublicKey {
  const { publicKey } = createNodePrimitives().importPrivateKey(privateKey.expose());
  const key = publicKeyFromBytes(publicKey.bytes);
  if (!key.ok) throw new Error("a derived public key has 32 bytes");
  return key.value;
}
