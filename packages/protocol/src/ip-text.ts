/** Address family by its version number. */
export type Family = 4 | 6;

/** Bits of an address. */
export function widthOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** Reads either family into a number; `null` for everything that is no address (scope ids included). */
export function parseIpNumber(text: string): { readonly family: Family; readonly value: bigint } | null {
  if (text.length > LONGEST_TEXT) return null;
  if (text.includes(":")) {
    const value = parse6(text);
    return value === null ? null : { family: 6, value };
  }
  const value = parse4(text);
  return value === null ? null : { family: 4, value };
}

/** Canonical text: dotted decimal, or the form of RFC 5952. */
export function formatIp(family: Family, value: bigint): string {
  return family === 4 ? format4(Number(value)) : format6(value);
}

function parse4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  let value = 0;
  for (const part of parts) {
    if (!OCTET.test(part) || Number(part) > 255) return null;
    value = value * 256 + Number(part);
  }
  return BigInt(value);
}

function parse6(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = groupsOf(halves[0] ?? "", halves.length === 1 ? "last" : "inner");
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "", "last") : [];
  if (!head || !tail) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** Groups of one side of `::`; dotted decimal is allowed in the last place of the whole address. */
function groupsOf(text: string, place: "inner" | "last"): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (place === "last" && index === parts.length - 1 && part.includes(".")) {
      const dotted = parse4(part);
      if (dotted === null) return null;
      groups.push(Number(dotted >> 16n), Number(dotted & 0xffffn));
    } else if (GROUP.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return null;
    }
  }
  return groups;
}

function format4(value: number): string {
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function format6(value: bigint): string {
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  if (value >> 32n === 0xffffn) return `::ffff:${format4(Number(value & 0xffff_ffffn))}`;
  const run = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (run.length < 2) return hex.join(":");
  return `${hex.slice(0, run.start).join(":")}::${hex.slice(run.start + run.length).join(":")}`;
}

/** The first of the longest runs of zero groups. */
function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}

const OCTET = /^(0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;
const LONGEST_TEXT = 45;
