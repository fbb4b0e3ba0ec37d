/** The value at a fraction (0 to 1) of the sorted values, interpolated between neighbours; NaN for no values. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const position = (sorted.length - 1) * fraction;
  const low = sorted.at(Math.floor(position));
  const high = sorted.at(Math.ceil(position));
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

/** The middle value, or the mean of the two middle ones; NaN for no values. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Median, smallest and largest of the runs of one row. */
export function summarise(runs: readonly number[]): {
  readonly median: number;
  readonly min: number;
  readonly max: number;
} {
  return { median: round(median(runs)), min: round(Math.min(...runs)), max: round(Math.max(...runs)) };
}

/** Keeps four significant digits: more would claim a precision that no run has. */
export function round(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : value;
}
