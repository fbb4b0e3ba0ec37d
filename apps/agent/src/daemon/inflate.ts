import { inflateRawSync } from "node:zlib";

/** Decompresses a map body; `null` when the input is damaged or becomes longer than announced. */
export function inflateMap(bytes: Uint8Array, bytesMax: number): Uint8Array | null {
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, bytesMax) });
  } catch {
    return null;
  }
}
