/** Throughput at one moment. */
export type RatePoint = { readonly atMs: number; readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number };

/** The last ten minutes of a throughput. */
export type RateHistory = {
  readonly push: (point: RatePoint) => void;
  readonly points: (nowMs: number) => readonly RatePoint[];
};

export function createRateHistory(): RateHistory {
  const kept: RatePoint[] = [];
  return {
    push(point) {
      kept.push(point);
      while (kept.length > POINTS_MAX) kept.shift();
    },
    points: (nowMs) => kept.filter(({ atMs }) => nowMs - atMs <= HISTORY_MS),
  };
}

const HISTORY_MS = 10 * 60_000;
/** One point a second is the finest there is. */
const POINTS_MAX = 600;
