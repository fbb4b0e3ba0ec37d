/** Delays between attempts: full jitter under a ceiling that doubles from 1 s to 60 s. */
export type Backoff = {
  /** The delay before the next attempt. */
  readonly nextDelayMs: () => number;
  /** After success: the next failure waits briefly again. */
  readonly reset: () => void;
};

export function createBackoff(random: () => number): Backoff {
  let attempts = 0;
  return {
    nextDelayMs() {
      const ceilingMs = Math.min(FIRST_CEILING_MS * 2 ** attempts, CEILING_MS_MAX);
      attempts = Math.min(attempts + 1, 16);
      return Math.floor(random() * ceilingMs);
    },
    reset() {
      attempts = 0;
    },
  };
}

const FIRST_CEILING_MS = 1_000;
const CEILING_MS_MAX = 60_000;
