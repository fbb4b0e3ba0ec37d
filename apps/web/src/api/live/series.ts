/** Columns of a chart: seconds since 1970 and bit/s; `null` marks a gap. */
export type SeriesColumns = {
  readonly seconds: readonly number[];
  readonly rx: readonly (number | null)[];
  readonly tx: readonly (number | null)[];
};

export type RatePoint = { readonly atMs: number; readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number };

/** A window of rates over time that keeps gaps as gaps. */
export type Series = {
  readonly push: (point: RatePoint) => void;
  /** Replaces everything from the first of `points` on; for the history that a subscription starts with. */
  readonly load: (points: readonly RatePoint[]) => void;
  /** Nothing was heard up to `atMs`: a gap after the last point, once it is older than the coarsest step. */
  readonly silence: (atMs: number) => void;
  readonly columns: () => SeriesColumns;
  readonly latest: () => RatePoint | null;
};

export function createSeries(pointsMax: number): Series {
  const seconds: number[] = [];
  const rx: (number | null)[] = [];
  const tx: (number | null)[] = [];
  let last: RatePoint | null = null;
  let afterHistory = false;

  function append(atSeconds: number, point: RatePoint | null): void {
    seconds.push(atSeconds);
    rx.push(point ? point.rxBitsPerSecond : null);
    tx.push(point ? point.txBitsPerSecond : null);
    if (seconds.length <= pointsMax) return;
    for (const column of [seconds, rx, tx]) column.shift();
  }

  function add(point: RatePoint, gapMs: number): void {
    if (last && point.atMs <= last.atMs) return;
    if (last && point.atMs - last.atMs > gapMs) gap(last);
    append(point.atMs / 1000, point);
    last = point;
  }

  function gap(behind: RatePoint): void {
    if (rx.at(-1) !== null) append((behind.atMs + STEP_MS) / 1000, null);
  }

  function cutFrom(firstSeconds: number): void {
    const place = seconds.findIndex((second) => second >= firstSeconds);
    if (place < 0) return;
    for (const column of [seconds, rx, tx]) column.length = place;
    last = null;
    for (const [kept, atSeconds] of seconds.entries()) {
      const [rxBitsPerSecond, txBitsPerSecond] = [rx[kept] ?? null, tx[kept] ?? null];
      if (rxBitsPerSecond === null || txBitsPerSecond === null) continue;
      last = { atMs: atSeconds * 1000, rxBitsPerSecond, txBitsPerSecond };
    }
  }

  return {
    push(point) {
      add(point, afterHistory ? HISTORY_GAP_MS : GAP_MS);
      afterHistory = false;
    },
    load(points) {
      cutFrom((points.at(0)?.atMs ?? Infinity) / 1000);
      for (const point of points) add(point, HISTORY_GAP_MS);
      afterHistory = true;
    },
    silence(atMs) {
      if (last && atMs - last.atMs > HISTORY_GAP_MS) gap(last);
    },
    columns: () => ({ seconds, rx, tx }),
    latest: () => last,
  };
}

/** Samples come once a second. */
export const STEP_MS = 1_000;

/** Nodes report every ten seconds while nobody looks, so the past may be that coarse without a gap. */
export const HISTORY_GAP_MS = 12_500;

/** A longer silence than this is drawn as a gap. */
export const GAP_MS = 2_600;
