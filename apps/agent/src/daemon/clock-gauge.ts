import { CLOCK_SKEW_WARN_MS } from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";

/** Measures how far the wall clock of this host is from the server's. It is for showing only: nothing depends on it. */
export type ClockGauge = {
  /** The server's clock, read somewhere between a moment and now; moments are of the monotonic clock. */
  readonly told: (serverWallClockMs: number, sinceMs: number) => void;
  /** Milliseconds by which this host is ahead; `null` before the first measurement of this stream. */
  readonly skewMs: () => number | null;
  readonly problems: () => readonly string[];
  /** A stream ended: a host that slept has a monotonic clock that stood still. */
  readonly reset: () => void;
};

export type ClockGaugeDeps = {
  readonly timers: Pick<Timers, "nowMs">;
  readonly wallClockMs: () => number;
  /** The skew may be another now. */
  readonly changed: () => void;
};

export function createClockGauge({ timers, wallClockMs, changed }: ClockGaugeDeps): ClockGauge {
  let readings: readonly Reading[] = [];
  const best = (): Reading | null =>
    readings.reduce<Reading | null>((least, one) => (least && least.errorMs <= one.errorMs ? least : one), null);
  const skewOf = ({ offsetMs }: Reading): number => Math.round(wallClockMs() - timers.nowMs() - offsetMs);
  return {
    told(serverWallClockMs, sinceMs) {
      const nowMs = timers.nowMs();
      const errorMs = Math.max(0, nowMs - sinceMs) / 2;
      readings = [...readings.slice(1 - READINGS_MAX), { offsetMs: serverWallClockMs + errorMs - nowMs, errorMs }];
      changed();
    },
    skewMs() {
      const reading = best();
      return reading && skewOf(reading);
    },
    problems() {
      const reading = best();
      const skewMs = reading ? skewOf(reading) : 0;
      if (!reading || Math.abs(skewMs) < CLOCK_SKEW_WARN_MS || Math.abs(skewMs) <= reading.errorMs) return [];
      return [
        `clock: this host is ${secondsText(skewMs)} ${skewMs > 0 ? "ahead of" : "behind"} the server; ` +
          "the network works all the same, but times in logs do not match: set the clock, for example by NTP",
      ];
    },
    reset() {
      readings = [];
    },
  };
}

/** Where the server's clock stood against the monotonic one here, give or take an error. */
type Reading = { readonly offsetMs: number; readonly errorMs: number };

function secondsText(ms: number): string {
  return `${Math.round(Math.abs(ms) / 1000)} s`;
}

/** The most exact of the last few counts, so that one slow answer does not move the figure. */
const READINGS_MAX = 4;
