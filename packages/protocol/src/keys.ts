import type { Brand } from "./brand.ts";
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from "./bytes.ts";
import { err, ok, type Result } from "./result.ts";

/** WireGuard public key (X25519), canonical base64. */
export type PublicKey = Brand<string, "PublicKey">;
/** Identity key of a node (Ed25519 public key), canonical base64. */
export type IdentityKey = Brand<string, "IdentityKey">;
/** Signing key of a control plane (Ed25519 public key), canonical base64. */
export type ServerKey = Brand<string, "ServerKey">;

/** Why something is no key. */
export type KeyError = { readonly code: "key"; readonly detail: string };

/** Bytes of every key in the product. */
export const KEY_BYTES = 32;

/** Tells whether a text is 32 bytes in canonical base64. */
export function isPublicKey(text: unknown): text is PublicKey {
  return isKeyText(text);
}

export function isIdentityKey(text: unknown): text is IdentityKey {
  return isKeyText(text);
}

export function isServerKey(text: unknown): text is ServerKey {
  return isKeyText(text);
}

export function parsePublicKey(text: string): Result<PublicKey, KeyError> {
  return isPublicKey(text) ? ok(text) : err(NOT_A_KEY);
}

export function parseIdentityKey(text: string): Result<IdentityKey, KeyError> {
  return isIdentityKey(text) ? ok(text) : err(NOT_A_KEY);
}

export function parseServerKey(text: string): Result<ServerKey, KeyError> {
  return isServerKey(text) ? ok(text) : err(NOT_A_KEY);
}

export function publicKeyFromBytes(bytes: Uint8Array): Result<PublicKey, KeyError> {
  return keyFromBytes<PublicKey>(bytes);
}

export function identityKeyFromBytes(bytes: Uint8Array): Result<IdentityKey, KeyError> {
  return keyFromBytes<IdentityKey>(bytes);
}

export function serverKeyFromBytes(bytes: Uint8Array): Result<ServerKey, KeyError> {
  return keyFromBytes<ServerKey>(bytes);
}

/** The 32 bytes of a key. */
export function keyBytes(key: PublicKey | IdentityKey | ServerKey): Uint8Array {
  const bytes = fromBase64(key);
  if (!bytes.ok) throw new Error("a branded key is canonical base64");
  return bytes.value;
}

/**
 * Whether a key is written in the one form that its point has. Both curves read 255 bits modulo a prime, and X25519 ignores
 * the bit above: the same point has several spellings, of which only the smallest number is taken. Zero is no key.
 */
export function isCanonicalKey(key: PublicKey | IdentityKey, curve: "x25519" | "ed25519"): boolean {
  const bytes = keyBytes(key);
  const top = bytes[KEY_BYTES - 1] ?? 0;
  // The top bit of an Ed25519 key is the sign of its other coordinate.
  if (curve === "x25519" && top > 0x7f) return false;
  if (bytes.every((byte) => byte === 0)) return false;
  const isNearPrime = (top & 0x7f) === 0x7f && bytes.subarray(1, KEY_BYTES - 1).every((byte) => byte === 0xff);
  return !isNearPrime || (bytes[0] ?? 0) < PRIME_LOW_BYTE;
}

/** The form of a server key used behind the dot of a join key. */
export function serverKeyToPin(key: ServerKey): string {
  return toBase64Url(keyBytes(key));
}

/** Reads the form used behind the dot of a join key. */
export function serverKeyFromPin(text: string): Result<ServerKey, KeyError> {
  const bytes = fromBase64Url(text);
  return bytes.ok ? serverKeyFromBytes(bytes.value) : err({ code: "key", detail: bytes.error.detail });
}

/** What 32 bytes encode to is canonical by construction. */
function keyFromBytes<Key extends PublicKey | IdentityKey | ServerKey>(bytes: Uint8Array): Result<Key, KeyError> {
  if (bytes.length !== KEY_BYTES) return err(wrongLength(bytes));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where 32 bytes become a key
  return ok(toBase64(bytes) as Key);
}

function isKeyText(text: unknown): text is string {
  return typeof text === "string" && KEY_IN_BASE64.test(text);
}

function wrongLength(bytes: Uint8Array): KeyError {
  return { code: "key", detail: `a key has ${KEY_BYTES} bytes, got ${bytes.length}` };
}

/** 2^255 − 19 ends, in the byte order of keys begins, with this byte; all others of it are ones. */
const PRIME_LOW_BYTE = 0xed;

const NOT_A_KEY: KeyError = { code: "key", detail: "not 32 bytes of canonical base64" };

/** 43 digits, the last with two zero bits, and one pad. */
const KEY_IN_BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
