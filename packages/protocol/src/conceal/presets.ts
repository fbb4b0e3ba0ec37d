import { Secret } from "../secret.ts";
import { type ConcealProfile, type ConcealRange, PLAIN_CONCEAL } from "./profile.ts";

/** What a person chooses from instead of setting single keys. */
export const CONCEAL_PRESETS = ["off", "light", "strong", "mimic-dns", "mimic-quic", "mimic-sip"] as const;
export type ConcealPreset = (typeof CONCEAL_PRESETS)[number];

/**
 * Draws a profile: what is not given by the preset is chance, so that no two networks look alike. `off` is plain WireGuard,
 * `light` changes lengths and types, `strong` hides headers as well and draws lengths and timers; the others are strong behind
 * packets as the protocol in their name has them.
 */
export function makeConceal(preset: ConcealPreset, random: (byteCount: number) => Uint8Array): ConcealProfile {
  const draw = drawing(random);
  switch (preset) {
    case "off":
      return PLAIN_CONCEAL;
    case "light":
      return { ...junk(draw), ...paddings(draw), ...types(draw) };
    case "strong":
      return { ...strong(draw, random), i1: `<r ${draw(40, 120)}>`, i2: `<r ${draw(20, 90)}>` };
    case "mimic-dns":
      return { ...strong(draw, random), i1: dnsQuery(draw, "0001"), i2: dnsQuery(draw, "001c") };
    case "mimic-quic":
      return { ...strong(draw, random), i1: quicInitial(draw) };
    case "mimic-sip":
      return { ...strong(draw, random), i1: sipOptions(draw) };
  }
}

/** A whole number from `low` to `high`, each as likely as the others. */
type Draw = (low: number, high: number) => number;

function drawing(random: (byteCount: number) => Uint8Array): Draw {
  return (low, high) => {
    const width = high - low + 1;
    const fair = UINT32_COUNT - (UINT32_COUNT % width);
    for (;;) {
      const bytes = random(4);
      const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
      if (drawn < fair) return low + (drawn % width);
    }
  };
}

function junk(draw: Draw): ConcealProfile {
  const jmin = draw(30, 120);
  return { ...PLAIN_CONCEAL, jc: draw(4, 9), jmin, jmax: jmin + draw(60, 700) };
}

/** Room for the nonce of header protection, and little enough for an inner MTU of 1,280. */
function paddings(draw: Draw): Pick<ConcealProfile, "s1" | "s2" | "s3" | "s4"> {
  return { s1: draw(12, 110), s2: draw(12, 110), s3: draw(12, 110), s4: draw(12, 40) };
}

/** Four ranges in four quarters of all numbers, which kind has which quarter is chance too. */
function types(draw: Draw): Pick<ConcealProfile, "h1" | "h2" | "h3" | "h4"> {
  const quarters = [0, 1, 2, 3];
  const range = (): ConcealRange => {
    const [quarter = 0] = quarters.splice(draw(0, quarters.length - 1), 1);
    const low = quarter * QUARTER + draw(5, QUARTER / 2);
    return { low, high: low + draw(1_000, 60_000) };
  };
  return { h1: range(), h2: range(), h3: range(), h4: range() };
}

/** Headers are hidden, so types stay; lengths and timers are drawn. */
function strong(draw: Draw, random: (byteCount: number) => Uint8Array): ConcealProfile {
  return {
    ...junk(draw),
    ...paddings(draw),
    headerProtectionKey: new Secret(random(KEY_BYTES)),
    randomTrailers: "on",
    rekeyAfterTime: around(draw, { low: 95, high: 115, width: 40 }),
    rekeyTimeout: around(draw, { low: 4, high: 5, width: 3 }),
    keepaliveTimeout: around(draw, { low: 7, high: 10, width: 6 }),
  };
}

function around(draw: Draw, { low, high, width }: ConcealRange & { readonly width: number }): ConcealRange {
  const start = draw(low, high);
  return { low: start, high: start + draw(Math.ceil(width / 2), width) };
}

/** A query for a name that nobody has: identifier, one question, two labels, type, class. */
function dnsQuery(draw: Draw, type: string): string {
  const label = draw(7, 15);
  return [
    "<r 2>",
    bytes("01000001000000000000", label.toString(16).padStart(2, "0")),
    `<rc ${label}>`,
    text("\u0003com\0"),
    bytes(type, "0001"),
  ].join("");
}

/** A first flight of 1,200 bytes and more: long header, version 1, connection id, no token, length, what looks sealed. */
function quicInitial(draw: Draw): string {
  const id = draw(8, 18);
  const sealed = draw(1_190, 1_214) - id;
  const first = (0xc0 + draw(0, 3)).toString(16);
  const length = (0x4000 + sealed).toString(16);
  return [
    bytes(first, "00000001", id.toString(16).padStart(2, "0")),
    `<r ${id}>`,
    bytes("0000", length),
    `<r ${sealed}>`,
  ].join("");
}

/** A question what somebody can do, as telephones send it. */
function sipOptions(draw: Draw): string {
  const [user, host] = [`<rd ${draw(4, 8)}>`, `<rc ${draw(6, 12)}>`];
  return [
    text("OPTIONS sip:"),
    user,
    text("@"),
    host,
    text(".net SIP/2.0\r\nVia: SIP/2.0/UDP "),
    host,
    text(".net;branch=z9hG4bK"),
    `<rc ${draw(8, 16)}>`,
    text("\r\nMax-Forwards: 70\r\nCall-ID: "),
    `<rc ${draw(12, 24)}>`,
    text("\r\nCSeq: 1"),
    `<rd ${draw(1, 4)}>`,
    text(" OPTIONS\r\nContent-Length: 0\r\n\r\n"),
  ].join("");
}

function bytes(...hex: readonly string[]): string {
  return `<b 0x${hex.join("")}>`;
}

function text(ascii: string): string {
  return bytes(...Array.from(ascii, (letter) => letter.charCodeAt(0).toString(16).padStart(2, "0")));
}

const UINT32_COUNT = 2 ** 32;
const QUARTER = 2 ** 30;
const KEY_BYTES = 32;
