import { CONCEAL_KINDS, type ConcealProfile, type ConcealRange } from "@weft/protocol";
import { viewOf } from "./handshake/bytes.ts";

/** Writes a type of the profile into a handshake message, before its MACs are made: they cover it. */
export function stampType(
  message: Uint8Array,
  profile: ConcealProfile,
  random: (byteCount: number) => Uint8Array,
): Uint8Array {
  const kind = CONCEAL_KINDS.find(({ bytes }) => bytes === message.length);
  if (kind) viewOf(message).setUint32(0, drawFrom(profile[kind.types], random), true);
  return message;
}

/** The kind of a handshake message by its whole type field; null for what is none. */
export function handshakeKind(message: Uint8Array, profile: ConcealProfile): HandshakeKind | null {
  if (message.length < 4) return null;
  const type = viewOf(message).getUint32(0, true);
  const found = CONCEAL_KINDS.find(({ types }) => profile[types].low <= type && type <= profile[types].high);
  return found && found.kind !== "transport" ? found.kind : null;
}

export type HandshakeKind = Exclude<(typeof CONCEAL_KINDS)[number]["kind"], "transport">;

/** One number of a range, each as likely as the others: what would favour some is drawn again. */
export function drawFrom(range: ConcealRange, random: (byteCount: number) => Uint8Array): number {
  const width = range.high - range.low + 1;
  if (width === 1) return range.low;
  const fair = UINT32_COUNT - (UINT32_COUNT % width);
  for (;;) {
    const drawn = viewOf(random(4)).getUint32(0, true);
    if (drawn < fair) return range.low + (drawn % width);
  }
}

const UINT32_COUNT = 2 ** 32;
