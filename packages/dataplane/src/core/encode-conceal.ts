import { CONCEAL_KINDS, CONCEAL_SIGNATURES, type ConcealProfile } from "@weft/protocol";

/** A profile and the 32 bytes that the engine's chance comes from; never the same bytes twice. */
export type WireDisguise = { readonly profile: ConcealProfile; readonly seed: Uint8Array };

/** Length of the body of `set-conceal`; docs/design/engine/commands.md has the layout. */
export function concealBytes(disguise: WireDisguise | null): number {
  if (!disguise) return 0;
  const { profile } = disguise;
  return CONCEAL_SIGNATURES.reduce((sum, slot) => sum + 2 + textBytes(profile[slot]).length, FIXED_BYTES);
}

/** Fills a body that is all zero. */
export function writeConceal(body: DataView, disguise: WireDisguise | null): void {
  if (!disguise) return;
  const { profile, seed } = disguise;
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  const flags = (profile.randomTrailers === "on" ? TRAILERS : 0) | (profile.disableCookies === "on" ? NO_COOKIES : 0);
  body.setUint32(0, VERSION, true);
  body.setUint32(4, flags, true);
  body.setUint16(8, profile.jc, true);
  body.setUint16(10, profile.jmin, true);
  body.setUint16(12, profile.jmax, true);
  for (const [place, kind] of CONCEAL_KINDS.entries()) {
    body.setUint16(16 + 2 * place, profile[kind.padding], true);
    body.setUint32(24 + 8 * place, profile[kind.types].low, true);
    body.setUint32(28 + 8 * place, profile[kind.types].high, true);
  }
  body.setUint16(56, profile.contentPaddingAddition.low, true);
  body.setUint16(58, profile.contentPaddingAddition.high, true);
  if (profile.headerProtectionKey) bytes.set(profile.headerProtectionKey.expose(), 60);
  bytes.set(seed, 92);
  let at = FIXED_BYTES;
  for (const slot of CONCEAL_SIGNATURES) {
    const text = textBytes(profile[slot]);
    body.setUint16(at, text.length, true);
    bytes.set(text, at + 2);
    at += 2 + text.length;
  }
}

function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const VERSION = 1;
const TRAILERS = 1;
const NO_COOKIES = 2;
/** Everything before the signatures. */
const FIXED_BYTES = 124;
