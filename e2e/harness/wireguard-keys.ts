import { generateKeyPairSync } from "node:crypto";

/** A WireGuard key pair; both halves as 32 raw bytes. */
export type WireguardKeys = { readonly privateKey: Buffer; readonly publicKey: Buffer };

/** Makes a fresh key pair. */
export function makeWireguardKeys(): WireguardKeys {
  const { privateKey } = generateKeyPairSync("x25519");
  const { d, x } = privateKey.export({ format: "jwk" });
  if (d === undefined || x === undefined) throw new Error("an exported X25519 key has no d or no x");
  return { privateKey: Buffer.from(d, "base64url"), publicKey: Buffer.from(x, "base64url") };
}
