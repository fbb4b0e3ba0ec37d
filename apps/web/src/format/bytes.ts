import { scale } from "./rate.ts";

/** Writes a total in bytes with three significant digits, e.g. `1.20 GB`. Counters cross the wire as decimal strings. */
export function formatBytes(bytes: string | number | bigint): string {
  const { value, unit } = scale(Number(bytes), BYTE_UNITS);
  return `${value} ${unit}`;
}

/** Writes a whole number with group separators, e.g. `12,345`. */
export function formatCount(count: string | number | bigint): string {
  return COUNT.format(typeof count === "string" ? BigInt(count) : count);
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];
const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
