/** Limits calls per subject: a full bucket allows a burst, then so many per second. */
export type TokenBuckets = {
  /** Takes one token, or says after how many seconds there will be one. */
  readonly take: (
    subject: string,
    nowMs: number,
  ) => { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };
};

export type BucketOptions = { readonly perSecond: number; readonly burst: number };

/** Buckets for any number of subjects; full ones are forgotten. */
export function createTokenBuckets({ perSecond, burst }: BucketOptions): TokenBuckets {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return {
    take(subject, nowMs) {
      const found = buckets.get(subject);
      const tokens = found
        ? Math.min(burst, found.tokens + (Math.max(0, nowMs - found.atMs) / 1_000) * perSecond)
        : burst;
      if (buckets.size >= SUBJECTS_MAX) forgetFull(buckets, { perSecond, burst }, nowMs);
      buckets.set(subject, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs });
      if (tokens >= 1) return { ok: true };
      return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((1 - tokens) / perSecond)) };
    },
  };
}

function forgetFull(
  buckets: Map<string, { tokens: number; atMs: number }>,
  { perSecond, burst }: BucketOptions,
  nowMs: number,
): void {
  for (const [subject, { tokens, atMs }] of buckets) {
    if (tokens + ((nowMs - atMs) / 1_000) * perSecond >= burst) buckets.delete(subject);
  }
  for (const oldest of buckets.keys()) {
    if (buckets.size < SUBJECTS_MAX) break;
    buckets.delete(oldest);
  }
}

const SUBJECTS_MAX = 50_000;
