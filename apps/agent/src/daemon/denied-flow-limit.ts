import type { RecordedFlow } from "@weft/dataplane";

/** Keeps a scan of ports from filling the server: of each rule's denied flows only so many a second are told of. */
export type DeniedFlowLimit = {
  readonly takes: (flow: Pick<RecordedFlow, "verdict" | "rule">, nowMs: number) => boolean;
};

export function createDeniedFlowLimit(): DeniedFlowLimit {
  /** A bucket per rule, `null` = no rule; full ones are forgotten. */
  const buckets = new Map<number | null, Bucket>();
  return {
    takes({ verdict, rule }, nowMs) {
      if (verdict === "allow") return true;
      if (buckets.size >= BUCKETS_MAX && !buckets.has(rule)) forgetFull(buckets, nowMs);
      const before = buckets.get(rule);
      const level = before ? levelAt(before, nowMs) : BURST;
      const isTaken = level >= 1 && (before !== undefined || buckets.size < BUCKETS_MAX);
      if (before || buckets.size < BUCKETS_MAX) buckets.set(rule, { level: isTaken ? level - 1 : level, atMs: nowMs });
      return isTaken;
    },
  };
}

type Bucket = { readonly level: number; readonly atMs: number };

function levelAt({ level, atMs }: Bucket, nowMs: number): number {
  return Math.min(BURST, level + (Math.max(0, nowMs - atMs) * PER_SECOND) / 1_000);
}

function forgetFull(buckets: Map<number | null, Bucket>, nowMs: number): void {
  for (const [rule, bucket] of buckets) if (levelAt(bucket, nowMs) >= BURST) buckets.delete(rule);
}

const BURST = 50;
const PER_SECOND = 10;
const BUCKETS_MAX = 1_024;
