import { strings } from "../../strings/index.ts";

/** One reason with its count, for showing. */
export type DropRow = { readonly reason: string; readonly label: string; readonly count: bigint };

/** Reasons that occurred, the most frequent first. */
export function dropRows(drops: Readonly<Record<string, string>>): readonly DropRow[] {
  return Object.entries(drops)
    .map(([reason, count]) => ({ reason, label: reasonText(reason), count: BigInt(count) }))
    .filter((row) => row.count > 0n)
    .toSorted((a, b) => (a.count < b.count ? 1 : a.count > b.count ? -1 : a.reason.localeCompare(b.reason)));
}

/** All reasons together. */
export function dropTotal(drops: Readonly<Record<string, string>>): bigint {
  return Object.values(drops).reduce((sum, count) => sum + BigInt(count), 0n);
}

/** A reason in words; one this version does not know is shown as it came. */
function reasonText(reason: string): string {
  return REASONS.get(plainReason(reason)) ?? reason;
}

/** Agents name counters `dropNoSession`, `noSession` or `no_session`; all mean the same. */
function plainReason(reason: string): string {
  const bare = reason.replace(/^(rx|tx)?_?drops?_?/i, "");
  return bare.replaceAll("_", "").toLowerCase();
}

const REASONS = new Map(
  Object.entries(strings.peer.drops.reasons).map(([reason, label]) => [reason.toLowerCase(), label]),
);
