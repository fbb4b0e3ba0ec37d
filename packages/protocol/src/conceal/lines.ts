import type { Result } from "../result.ts";
import { concealKeys, setConcealKeys } from "./keys.ts";
import { type ConcealProfile, PLAIN_CONCEAL } from "./profile.ts";
import type { ConcealProblem } from "./rules.ts";

/** A profile as lines of key=value, as the configuration protocol has them; empty = plain WireGuard. */
export function formatConcealLines(profile: ConcealProfile): string {
  return concealKeys(profile)
    .map(([key, value]) => `${key}=${value}`)
    .join("\n");
}

/** Reads such lines; every rule is checked. */
export function parseConcealLines(text: string): Result<ConcealProfile, readonly ConcealProblem[]> {
  const keys = text.split("\n").flatMap((line): [string, string][] => {
    const equals = line.indexOf("=");
    if (line.trim() === "") return [];
    return [equals < 0 ? [line, ""] : [line.slice(0, equals), line.slice(equals + 1)]];
  });
  return setConcealKeys(PLAIN_CONCEAL, keys);
}
