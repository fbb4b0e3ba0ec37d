/** Compares as big-endian numbers of equal length: negative, zero or positive. Not for secrets. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (const [index, byte] of left.entries()) {
    const difference = byte - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Bytes of an ASCII text; the handshake's labels are all ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
