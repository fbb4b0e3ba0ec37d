/** Shortens a key for a table; the whole key is what the copy button beside it copies. */
export function shortKey(key: string): string {
  return key.length <= 14 ? key : `${key.slice(0, 7)}…${key.slice(-5)}`;
}
