/** Writes a length of time with its two largest units, e.g. `3 h 12 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return pair([Math.floor(seconds / MINUTE), "min"], [seconds % MINUTE, "s"]);
  if (seconds < DAY) return pair([Math.floor(seconds / HOUR), "h"], [Math.floor((seconds % HOUR) / MINUTE), "min"]);
  return pair([Math.floor(seconds / DAY), "d"], [Math.floor((seconds % DAY) / HOUR), "h"]);
}

/** Writes how far a moment is from now, e.g. `8s ago` or `in 1h`. */
export function formatRelative(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  const size = Math.abs(seconds);
  if (size < MINUTE) return RELATIVE.format(seconds, "second");
  if (size < HOUR) return RELATIVE.format(Math.trunc(seconds / MINUTE), "minute");
  if (size < 2 * DAY) return RELATIVE.format(Math.trunc(seconds / HOUR), "hour");
  return RELATIVE.format(Math.trunc(seconds / DAY), "day");
}

/** Writes a moment exactly, in the reader's own time zone, for a hover. */
export function formatExact(atMs: number): string {
  return EXACT.format(atMs);
}

/** Writes a round trip, e.g. `312 µs` or `1.24 ms`. */
export function formatRoundTrip(microseconds: number): string {
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  const milliseconds = microseconds / 1000;
  return `${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(milliseconds < 100 ? 1 : 0)} ms`;
}

type Part = readonly [amount: number, unit: string];

function pair(large: Part, small: Part): string {
  const first = `${large[0]} ${large[1]}`;
  return small[0] === 0 ? first : `${first} ${small[0]} ${small[1]}`;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
