/** Decides when changes go out: the first at once, later ones together after a short window. */
export type Coalescer = {
  /** Notes a change and returns when to send. */
  readonly noteChange: (nowMs: number) => number;
  readonly noteSent: (nowMs: number) => void;
};

export function createCoalescer(windowMs = WINDOW_MS): Coalescer {
  let lastSentMs = Number.NEGATIVE_INFINITY;
  return {
    // A wall clock that was set back must not hold changes for as long as it was set back.
    noteChange: (nowMs) => Math.min(Math.max(nowMs, lastSentMs + windowMs), nowMs + windowMs),
    noteSent(nowMs) {
      lastSentMs = nowMs;
    },
  };
}

/** Changes that follow another within this time travel together; none waits longer. */
export const WINDOW_MS = 200;
