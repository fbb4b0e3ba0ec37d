import type { Clock } from "@weft/protocol";

/** Delays between attempts: full jitter under a ceiling that doubles from 1 s to 60 s. */
export type Backoff = {
  /** The delay before the next attempt. */
  readonly nextDelayMs: () => number;
  /** After success: the next failure waits briefly again. */
  readonly reset: () => void;
};

/**
 * During the first two minutes of an outage the ceiling stays at 8 s, so that after a restart of the server every node
 * is back within one heartbeat (decision 0051).
 */
export function createBackoff(clock: Clock, random: () => number): Backoff {
  let attempts = 0;
  let firstFailureMs = 0;
  return {
    nextDelayMs() {
      if (attempts === 0) firstFailureMs = clock.nowMs();
      const ceilingMs = Math.min(FIRST_CEILING_MS * 2 ** attempts, CEILING_MS_MAX);
      const isFresh = clock.nowMs() - firstFailureMs < FRESH_MS;
      attempts = Math.min(attempts + 1, 16);
      return Math.floor(random() * (isFresh ? Math.min(ceilingMs, FRESH_CEILING_MS) : ceilingMs));
    },
    reset() {
      attempts = 0;
    },
  };
}

const FIRST_CEILING_MS = 1_000;
const CEILING_MS_MAX = 60_000;
const FRESH_CEILING_MS = 8_000;
const FRESH_MS = 120_000;
