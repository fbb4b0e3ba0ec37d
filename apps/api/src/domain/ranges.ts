import { err, parsePrefix, prefixContains, prefixesOverlap, prefixParts, subPrefix } from "@weft/protocol";
import type { Prefix, RandomBytes, Result } from "@weft/protocol";
import type { Failure } from "./failure.ts";

/** Reads a range for a network and refuses what cannot be one. */
export function parseRange(text: string, family: 4 | 6): Result<Prefix, Failure> {
  const refuse = (detail: string) => err({ code: "range_invalid", range: text, detail } as const);
  const prefix = parsePrefix(text);
  if (!prefix.ok) return refuse(prefix.error.detail);
  const { family: found, length } = prefixParts(prefix.value);
  if (found !== family) return refuse(`is IPv${found}, expected IPv${family}`);
  const limits = LENGTHS[family];
  if (length < limits.min || length > limits.max) return refuse(`its length must be ${limits.min} to ${limits.max}`);
  const unusable = UNUSABLE_RANGES.find((range) => prefixesOverlap(range, prefix.value));
  if (unusable) return refuse(`overlaps ${unusable}, which hosts use for other things`);
  return prefix;
}

/** The first of `taken` that shares an address with `range`. */
export function overlapping<T extends { readonly range: Prefix }>(range: Prefix, taken: readonly T[]): T | undefined {
  return taken.find((other) => prefixesOverlap(range, other.range));
}

/** A random free /16 of the shared address space (RFC 6598): rarely used on local networks. */
export function proposeIpv4(taken: readonly Prefix[], random: RandomBytes): Prefix | undefined {
  const start = (random(1)[0] ?? 0) % IPV4_CHOICES;
  for (let step = 0; step < IPV4_CHOICES; step += 1) {
    const choice = subPrefix(SHARED_SPACE, 16, BigInt((start + step) % IPV4_CHOICES));
    if (choice && !taken.some((range) => prefixesOverlap(range, choice))) return choice;
  }
  return undefined;
}

/** A random /64 of the unique local addresses (RFC 4193): 40 random bits make collisions a curiosity. */
export function proposeIpv6(random: RandomBytes): Prefix {
  const index = random(7).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const choice = subPrefix(UNIQUE_LOCAL, 64, index);
  if (!choice || !prefixContains(UNIQUE_LOCAL, choice)) throw new Error("56 bits always fit between /8 and /64");
  return choice;
}

function known(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix.ok) throw new Error(`${text} is written wrongly in this file`);
  return prefix.value;
}

const LENGTHS = { 4: { min: 8, max: 30 }, 6: { min: 32, max: 124 } } as const;
const SHARED_SPACE = known("100.64.0.0/10");
const UNIQUE_LOCAL = known("fd00::/8");
const IPV4_CHOICES = 64;
/** Loopback, link-local, multicast and the like: no network and no route may have them. */
export const UNUSABLE_RANGES = [
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/3",
  "::/8",
  "fe80::/10",
  "ff00::/8",
].map(known);
