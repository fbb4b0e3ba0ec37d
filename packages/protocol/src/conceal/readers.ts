import { fromBase64 } from "../bytes.ts";
import { Secret } from "../secret.ts";
import { CONCEAL_KINDS, type ConcealProfile, type ConcealRange, DATAGRAM_BYTES_MAX } from "./profile.ts";
import { parseConcealTags } from "./tags.ts";

/** How values are written: in the configuration protocol, or in a `.conf` file. */
export type ConcealDialect = "uapi" | "conf";

/** What a value sets, or the rule it breaks. */
type Read = Partial<ConcealProfile> | string;
export type ConcealReader = (value: string, dialect: ConcealDialect) => Read;

function integer(text: string, bounds: { readonly min: number; readonly max: number }): number | string {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  const inside = value >= bounds.min && value <= bounds.max;
  return inside ? value : `must be a whole number from ${bounds.min} to ${bounds.max}`;
}

function range(text: string, max: number): ConcealRange | string {
  const [, first = "", second = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const [low, high] = [Number(first), Number(second)];
  if (first !== "" && low <= high && high <= max) return { low, high };
  return `must be N or N-M with N ≤ M, 0 to ${max}, digits only`;
}

function whole(max: number, min: number, set: (value: number) => Partial<ConcealProfile>): ConcealReader {
  return (text) => {
    const read = integer(text, { min, max });
    return typeof read === "string" ? read : set(read);
  };
}

function span(max: number, set: (value: ConcealRange) => Partial<ConcealProfile>): ConcealReader {
  return (text) => {
    const read = range(text, max);
    return typeof read === "string" ? read : set(read);
  };
}

function signature(set: (value: string) => Partial<ConcealProfile>): ConcealReader {
  return (text) => {
    const read = parseConcealTags(text);
    return read.ok ? set(read.value.bytes === 0 ? "" : text.trim()) : read.error.join("; ");
  };
}

function flag(set: (value: "on" | "off") => Partial<ConcealProfile>): ConcealReader {
  return (text, dialect) => {
    if (dialect === "conf" && /^\d+$/.test(text)) return set(Number(text) === 0 ? "off" : "on");
    const words = dialect === "conf" ? CONF_WORDS : UAPI_WORDS;
    const value = words.get(text);
    return value
      ? set(value)
      : `must be one of ${[...words.keys()].join(", ")}${dialect === "conf" ? ", a number" : ""}`;
  };
}

function headerKey(text: string, dialect: ConcealDialect): Read {
  const bytes = dialect === "conf" ? base64Key(text) : hexKey(text);
  if (!bytes) return dialect === "conf" ? "must be 32 bytes in base64" : "must be 64 hex digits";
  return { headerProtectionKey: bytes.every((byte) => byte === 0) ? null : new Secret(bytes) };
}

function base64Key(text: string): Uint8Array | null {
  const read = fromBase64(text);
  return read.ok && read.value.length === KEY_BYTES ? read.value : null;
}

function hexKey(text: string): Uint8Array | null {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const PROTECTION_KEY = "header_protection_key";
const KEY_BYTES = 32;
const UINT32_MAX = 0xffff_ffff;
const UINT16_MAX = 0xffff;
const JUNK_MAX = 128;
const [INITIATION, RESPONSE, COOKIE_REPLY, TRANSPORT] = CONCEAL_KINDS;

const UAPI_WORDS: ReadonlyMap<string, "on" | "off"> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((word) => [word, "on"] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((word) => [word, "off"] as const),
]);
const CONF_WORDS: ReadonlyMap<string, "on" | "off"> = new Map([
  ["on", "on"],
  ["off", "off"],
]);
/** What each key takes, in the order in which keys are shown. */
export const CONCEAL_READERS: ReadonlyMap<string, ConcealReader> = new Map<string, ConcealReader>([
  ["jc", whole(JUNK_MAX, 0, (jc) => ({ jc }))],
  ["jmin", whole(DATAGRAM_BYTES_MAX, 1, (jmin) => ({ jmin }))],
  ["jmax", whole(DATAGRAM_BYTES_MAX, 1, (jmax) => ({ jmax }))],
  ["s1", whole(DATAGRAM_BYTES_MAX - INITIATION.bytes, 0, (s1) => ({ s1 }))],
  ["s2", whole(DATAGRAM_BYTES_MAX - RESPONSE.bytes, 0, (s2) => ({ s2 }))],
  ["s3", whole(DATAGRAM_BYTES_MAX - COOKIE_REPLY.bytes, 0, (s3) => ({ s3 }))],
  ["s4", whole(DATAGRAM_BYTES_MAX - TRANSPORT.bytes, 0, (s4) => ({ s4 }))],
  ["h1", span(UINT32_MAX, (h1) => ({ h1 }))],
  ["h2", span(UINT32_MAX, (h2) => ({ h2 }))],
  ["h3", span(UINT32_MAX, (h3) => ({ h3 }))],
  ["h4", span(UINT32_MAX, (h4) => ({ h4 }))],
  ["i1", signature((i1) => ({ i1 }))],
  ["i2", signature((i2) => ({ i2 }))],
  ["i3", signature((i3) => ({ i3 }))],
  ["i4", signature((i4) => ({ i4 }))],
  ["i5", signature((i5) => ({ i5 }))],
  [PROTECTION_KEY, headerKey],
  ["content_padding_addition", span(UINT16_MAX, (contentPaddingAddition) => ({ contentPaddingAddition }))],
  ["rekey_after_time", span(UINT16_MAX, (rekeyAfterTime) => ({ rekeyAfterTime }))],
  ["rekey_timeout", span(UINT16_MAX, (rekeyTimeout) => ({ rekeyTimeout }))],
  ["reject_after_time", span(UINT16_MAX, (rejectAfterTime) => ({ rejectAfterTime }))],
  ["keepalive_timeout", span(UINT16_MAX, (keepaliveTimeout) => ({ keepaliveTimeout }))],
  ["max_handshake_attempts", span(UINT16_MAX, (maxHandshakeAttempts) => ({ maxHandshakeAttempts }))],
  ["random_trailers", flag((randomTrailers) => ({ randomTrailers }))],
  ["disable_cookies", flag((disableCookies) => ({ disableCookies }))],
]);
