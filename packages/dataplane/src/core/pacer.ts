/** Spreads work that many peers want in the same moment. */
export type Pacer = {
  /** Reserves a place and says when it is: now, or a little later when too much is reserved already. */
  readonly reserve: (nowMs: number) => number;
};

export function createPacer(limits: { readonly perSecond: number; readonly burst: number }): Pacer {
  const spacingMs = MS_PER_SECOND / limits.perSecond;
  const toleranceMs = limits.burst * spacingMs;
  let reservedUntilMs = 0;
  return {
    reserve(nowMs) {
      reservedUntilMs = Math.max(reservedUntilMs, nowMs) + spacingMs;
      return Math.max(nowMs, reservedUntilMs - toleranceMs);
    },
  };
}

const MS_PER_SECOND = 1_000;
