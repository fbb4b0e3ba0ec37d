/** Token buckets by key, a bounded number of them; the key seen longest ago makes room. */
export type RateLimiter = {
  readonly allow: (key: string, nowMs: number) => boolean;
};

export type RateLimits = {
  readonly perSecond: number;
  readonly burst: number;
  readonly keysMax: number;
};

export function createRateLimiter(limits: RateLimits): RateLimiter {
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();
  return {
    allow(key, nowMs) {
      const known = buckets.get(key);
      const refilled = known
        ? Math.min(limits.burst, known.tokens + ((nowMs - known.atMs) * limits.perSecond) / MS_PER_SECOND)
        : limits.burst;
      const allowed = refilled >= 1;
      buckets.delete(key);
      buckets.set(key, { tokens: allowed ? refilled - 1 : refilled, atMs: nowMs });
      const [oldest] = buckets.keys();
      if (buckets.size > limits.keysMax && oldest !== undefined) buckets.delete(oldest);
      return allowed;
    },
  };
}

const MS_PER_SECOND = 1_000;
