import { createHash, timingSafeEqual } from "node:crypto";

/** SHA-256 as hex; enough for secrets that carry their own entropy. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares two secrets in constant time, whatever their lengths. */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(createHash("sha256").update(left).digest(), createHash("sha256").update(right).digest());
}

/** What lists show of a token: its prefix and four characters. */
export function hintOf(token: string): string {
  const prefixEnd = token.lastIndexOf("_") + 1;
  return `${token.slice(0, prefixEnd + 4)}…`;
}
