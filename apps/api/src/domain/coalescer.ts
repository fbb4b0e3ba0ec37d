/** Decides when changes go out: the first at once, later ones together after a short window. */
export type Coalescer = {
  /** Notes a change and returns when to send. */
  readonly noteChange: (nowMs: number) => number;
  readonly noteSent: (nowMs: number) => void;
};

export function createCoalescer(windowMs = WINDOW_MS): Coalescer {
  let lastSentMs = Number.NEGATIVE_INFINITY;
  return {
    noteChange: (nowMs) => Math.max(nowMs, lastSentMs + windowMs),
    noteSent(nowMs) {
      lastSentMs = nowMs;
    },
  };
}

/** Changes that follow another within this time travel together; none waits longer. */
export const WINDOW_MS = 200;
