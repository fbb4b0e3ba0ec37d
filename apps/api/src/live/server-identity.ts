import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBase64Url, Secret, serverKeyFromBytes } from "@weft/protocol";
import type { ServerKey } from "@weft/protocol";
import { keepServerKey } from "../db/instance-repository.ts";
import type { Executor } from "../db/client.ts";

/** The key that agents pin, and signatures by it. */
export type ServerIdentity = {
  readonly key: ServerKey;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
  /** A key of 32 bytes for one purpose; the same at every start, and on every replica. */
  readonly deriveKey: (purpose: string) => Uint8Array;
  /** The key itself, for a backup; in PEM. */
  readonly privateKey: Secret<string>;
};

/** Reads the key beside the embedded database, or makes it at first start. */
export async function identityFromFile(dataFolder: string): Promise<ServerIdentity> {
  const path = join(dataFolder, SERVER_KEY_FILE);
  const existing = await readFile(path, "utf8").catch(() => undefined);
  if (existing !== undefined) return identityOf(existing);
  const fresh = makeKey();
  await writeFile(path, fresh, { mode: 0o600, flag: "wx" });
  return identityOf(fresh);
}

/** Reads the key that all replicas on an external database share, or makes it. */
export async function identityFromDatabase(db: Executor): Promise<ServerIdentity> {
  return identityOf(await keepServerKey(db, makeKey()));
}

function makeKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Identity of a private key in PEM. */
export function identityOf(pem: string): ServerIdentity {
  const privateKey = createPrivateKey(pem);
  const seed = privateKey.export({ type: "pkcs8", format: "der" });
  return {
    key: publicKeyOf(privateKey),
    privateKey: new Secret(pem),
    sign: (bytes) => sign(null, bytes, privateKey),
    deriveKey: (purpose) => new Uint8Array(hkdfSync("sha256", seed, "", purpose, 32)),
  };
}

function publicKeyOf(privateKey: KeyObject): ServerKey {
  const raw = fromBase64Url(createPublicKey(privateKey).export({ format: "jwk" }).x ?? "");
  const key = raw.ok ? serverKeyFromBytes(raw.value) : raw;
  if (!key.ok) throw new Error("the server key is not an Ed25519 key");
  return key.value;
}

/** File in the data folder that holds the key when the database is embedded. */
export const SERVER_KEY_FILE = "server-key.pem";
