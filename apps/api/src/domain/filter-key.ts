import type { AddressSet, FilterRule } from "@weft/protocol";

/** Text that two filters share exactly when they say the same. */
export function filterKey(filter: readonly FilterRule[]): string {
  const known = KEYS.get(filter);
  if (known !== undefined) return known;
  const sides = filter.map((rule) => ({ ...rule, source: setKey(rule.source), destination: setKey(rule.destination) }));
  const key = JSON.stringify(sides);
  KEYS.set(filter, key);
  return key;
}

/** Sets are long, and many rules share one: each is written out once. */
export function setKey(set: AddressSet | null): string | null {
  if (set === null) return null;
  const known = SET_KEYS.get(set);
  if (known !== undefined) return known;
  const text = set.join();
  const key = [set.length, ...SUM_FACTORS.map((factor) => sumOf(text, factor))].join("-");
  SET_KEYS.set(set, key);
  return key;
}

/** A number of 32 bits out of a text, never 0. */
export function shortSum(text: string): number {
  return sumOf(text, FIRST_FACTOR) || 1;
}

/** One of several short sums over a text; sets of equal length that agree in three of them do not meet by chance. */
function sumOf(text: string, factor: number): number {
  let sum = factor;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at) ^ (sum >>> 13), factor);
  return sum >>> 0;
}

const FIRST_FACTOR = 16_777_619;
const SUM_FACTORS = [FIRST_FACTOR, 1_540_483_477, 668_265_263];
const SET_KEYS = new WeakMap<AddressSet, string>();

const KEYS = new WeakMap<readonly FilterRule[], string>();
