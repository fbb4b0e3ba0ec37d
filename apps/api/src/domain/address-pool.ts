import { addressAt, hostOffsets, isIpv4, isIpv6, offsetOf, parseIp } from "@weft/protocol";
import type { Ipv4Address, Ipv6Address, Prefix } from "@weft/protocol";

/** The ranges of a network; at least one is set. */
export type Ranges = { readonly ipv4Range: Prefix | null; readonly ipv6Range: Prefix | null };

/** Places that peers of a network may have, both ends included. A peer has the same place in both ranges. */
export function poolOf(ranges: Ranges): { readonly first: bigint; readonly last: bigint; readonly capacity: bigint } {
  const pools = [ranges.ipv4Range, ranges.ipv6Range].flatMap((range) => (range ? [hostOffsets(range)] : []));
  const first = pools.reduce((highest, pool) => (pool.first > highest ? pool.first : highest), 0n);
  const last = pools.reduce((lowest, pool) => (pool.last < lowest ? pool.last : lowest), OFFSET_MAX);
  return { first, last, capacity: last >= first ? last - first + 1n : 0n };
}

/** The addresses at one place of the ranges. */
export function addressesAt(
  ranges: Ranges,
  offset: bigint,
): { readonly ipv4: Ipv4Address | null; readonly ipv6: Ipv6Address | null } {
  const ipv4 = ranges.ipv4Range && addressAt(ranges.ipv4Range, offset);
  const ipv6 = ranges.ipv6Range && addressAt(ranges.ipv6Range, offset);
  return { ipv4: ipv4 && isIpv4(ipv4) ? ipv4 : null, ipv6: ipv6 && isIpv6(ipv6) ? ipv6 : null };
}

/** The place of an address that somebody wishes for; `undefined` when no peer can have it. */
export function offsetWished(ranges: Ranges, address: string): bigint | undefined {
  const parsed = parseIp(address);
  if (!parsed.ok) return undefined;
  const pool = poolOf(ranges);
  for (const range of [ranges.ipv4Range, ranges.ipv6Range]) {
    const offset = range && offsetOf(range, parsed.value);
    if (offset !== null && offset >= pool.first && offset <= pool.last) return offset;
  }
  return undefined;
}

/** Keeps offsets inside the database's signed 64-bit numbers; nobody has that many peers. */
const OFFSET_MAX = 2n ** 62n;
