/** Address family by its version number. */
export type Family = 4 | 6;

/** Bits of an address. */
export function widthOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** Reads either family into 4 or 16 bytes; `null` for everything that is no address (scope ids included). */
export function parseIpBytes(text: string): Uint8Array | null {
  if (text.length > LONGEST_TEXT) return null;
  if (!text.includes(":")) return parse4(text);
  const groups = parse6(text);
  if (!groups) return null;
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 8; index += 1) {
    const group = groups[index] ?? 0;
    bytes[2 * index] = group >> 8;
    bytes[2 * index + 1] = group & 255;
  }
  return bytes;
}

/** Canonical text of 4 or 16 bytes: dotted decimal, or the form of RFC 5952. */
export function formatIpBytes(bytes: Uint8Array): string {
  return bytes.length === 4 ? format4(bytes, 0) : format6(bytes);
}

function parse4(text: string): Uint8Array | null {
  const bytes = new Uint8Array(4);
  let octet = 0;
  let digits = 0;
  let place = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : DOT;
    if (code === DOT) {
      if (digits === 0 || place === 4) return null;
      bytes[place] = octet;
      place += 1;
      octet = 0;
      digits = 0;
    } else {
      // A leading zero would make the octet ambiguous: some read it as octal.
      if (code < ZERO || code > NINE || (digits > 0 && octet === 0)) return null;
      octet = octet * 10 + code - ZERO;
      digits += 1;
      if (octet > 255) return null;
    }
  }
  return place === 4 ? bytes : null;
}

function parse6(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = groupsOf(halves[0] ?? "", halves.length === 1 ? "last" : "inner");
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "", "last") : [];
  if (!head || !tail) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  for (let count = 0; count < missing; count += 1) head.push(0);
  return head.concat(tail);
}

/** Groups of one side of `::`; dotted decimal is allowed in the last place of the whole address. */
function groupsOf(text: string, place: "inner" | "last"): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (GROUP.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      const dotted = place === "last" && index === parts.length - 1 ? parse4(part) : null;
      if (!dotted) return null;
      groups.push(word(dotted, 0), word(dotted, 2));
    }
  }
  return groups;
}

function format4(bytes: Uint8Array, offset: number): string {
  return `${bytes[offset] ?? 0}.${bytes[offset + 1] ?? 0}.${bytes[offset + 2] ?? 0}.${bytes[offset + 3] ?? 0}`;
}

function format6(bytes: Uint8Array): string {
  if (isMapped(bytes)) return `::ffff:${format4(bytes, 12)}`;
  const run = longestZeroRun(bytes);
  let text = "";
  for (let group = 0; group < 8; group += 1) {
    if (run.length > 1 && group === run.start) {
      text += "::";
      group += run.length - 1;
    } else {
      text += `${text === "" || text.endsWith(":") ? "" : ":"}${word(bytes, 2 * group).toString(16)}`;
    }
  }
  return text;
}

/** `::ffff:a.b.c.d` */
function isMapped(bytes: Uint8Array): boolean {
  if (bytes[10] !== 255 || bytes[11] !== 255) return false;
  for (let index = 0; index < 10; index += 1) if (bytes[index] !== 0) return false;
  return true;
}

/** The first of the longest runs of zero groups. */
function longestZeroRun(bytes: Uint8Array): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let group = 0; group < 8; group += 1) {
    if (word(bytes, 2 * group) !== 0) start = group + 1;
    else if (group + 1 - start > best.length) best = { start, length: group + 1 - start };
  }
  return best;
}

function word(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

const DOT = 46;
const ZERO = 48;
const NINE = 57;
const GROUP = /^[0-9a-fA-F]{1,4}$/;
const LONGEST_TEXT = 45;
