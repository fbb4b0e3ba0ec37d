/** Writes a rate in bit/s with three significant digits, e.g. `3.41 Gbit/s`. */
export function formatRate(bitsPerSecond: number): string {
  const { value, unit } = scale(bitsPerSecond, RATE_UNITS);
  return `${value} ${unit}`;
}

/** Writes a rate as short as an axis needs it, e.g. `2.5G`. */
export function formatRateShort(bitsPerSecond: number): string {
  if (bitsPerSecond === 0) return "0";
  const { value, unit } = scale(bitsPerSecond, SHORT_UNITS);
  return `${Number(value)}${unit}`;
}

/** Chooses the next round ceiling (1, 2 or 5 times a power of ten), so that an axis moves in steps and never jitters. */
export function axisCeiling(bitsPerSecond: number): number {
  if (!(bitsPerSecond > AXIS_FLOOR)) return AXIS_FLOOR;
  const power = 10 ** Math.floor(Math.log10(bitsPerSecond));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= bitsPerSecond);
  return (step ?? 10) * power;
}

/** Scales a value by thousands and keeps three significant digits. */
export function scale(amount: number, units: readonly string[]): { readonly value: string; readonly unit: string } {
  let rest = Number.isFinite(amount) && amount > 0 ? amount : 0;
  let index = 0;
  while (rest >= 999.5 && index < units.length - 1) {
    rest /= 1000;
    index += 1;
  }
  return { value: digits(rest, index), unit: units[index] ?? "" };
}

function digits(value: number, index: number): string {
  if (index === 0) return String(Math.round(value));
  if (value >= 99.95) return value.toFixed(0);
  if (value >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

const RATE_UNITS = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
const SHORT_UNITS = ["", "k", "M", "G", "T"];

/** An idle network is drawn against 10 kbit/s, so keepalives stay visible as what they are: almost nothing. */
const AXIS_FLOOR = 10_000;
