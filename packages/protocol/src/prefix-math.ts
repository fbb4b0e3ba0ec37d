import {
  familyOf,
  ipFrom,
  ipToNumber,
  prefixFrom,
  prefixParts,
  type Family,
  type IpAddress,
  type Prefix,
} from "./addresses.ts";
import { widthOf } from "./ip-text.ts";

/** Tells whether an address or a whole prefix lies inside a prefix. */
export function prefixContains(outer: Prefix, inner: IpAddress | Prefix): boolean {
  const range = rangeOf(outer);
  const other = isPrefix(inner) ? rangeOf(inner) : rangeOfAddress(inner);
  return range.family === other.family && range.first <= other.first && other.last <= range.last;
}

/** Tells whether two prefixes share an address. */
export function prefixesOverlap(left: Prefix, right: Prefix): boolean {
  return prefixContains(left, right) || prefixContains(right, left);
}

/** Number of addresses in a prefix. */
export function prefixSize(prefix: Prefix): bigint {
  const { family, length } = prefixParts(prefix);
  return 1n << BigInt(widthOf(family) - length);
}

/** The address at a place of a prefix, the first being 0; `null` outside. */
export function addressAt(prefix: Prefix, offset: bigint): IpAddress | null {
  if (offset < 0n || offset >= prefixSize(prefix)) return null;
  const { family, value } = prefixParts(prefix);
  return ipFrom(family, value + offset);
}

/** The place of an address in a prefix; `null` when it lies outside. */
export function offsetOf(prefix: Prefix, address: IpAddress): bigint | null {
  return prefixContains(prefix, address) ? ipToNumber(address) - prefixParts(prefix).value : null;
}

/**
 * The places that a host may have, both ends included: network and broadcast address of IPv4 and the
 * all-zero address of IPv6 are left out, except where the prefix is too small to have them.
 */
export function hostOffsets(prefix: Prefix): { readonly first: bigint; readonly last: bigint } {
  const size = prefixSize(prefix);
  if (size <= 2n) return { first: 0n, last: size - 1n };
  return { first: 1n, last: prefixParts(prefix).family === 4 ? size - 2n : size - 1n };
}

/** Cuts a prefix into equal parts of a longer length and returns the part at `index`; `null` when there is none. */
export function subPrefix(prefix: Prefix, length: number, index: bigint): Prefix | null {
  const { family, value, length: outer } = prefixParts(prefix);
  if (length < outer || length > widthOf(family) || index < 0n || index >= 1n << BigInt(length - outer)) return null;
  const made = prefixFrom(family, value + (index << BigInt(widthOf(family) - length)), length);
  return made.ok ? made.value : null;
}

/** Orders addresses and prefixes: IPv4 first, then by number, then the wider prefix first. */
export function comparePrefixes(left: Prefix, right: Prefix): number {
  const a = prefixParts(left);
  const b = prefixParts(right);
  if (a.family !== b.family) return a.family - b.family;
  if (a.value !== b.value) return a.value < b.value ? -1 : 1;
  return a.length - b.length;
}

type Range = { readonly family: Family; readonly first: bigint; readonly last: bigint };

function rangeOf(prefix: Prefix): Range {
  const { family, value } = prefixParts(prefix);
  return { family, first: value, last: value + prefixSize(prefix) - 1n };
}

function rangeOfAddress(address: IpAddress): Range {
  const value = ipToNumber(address);
  return { family: familyOf(address), first: value, last: value };
}

function isPrefix(text: IpAddress | Prefix): text is Prefix {
  return text.includes("/");
}
