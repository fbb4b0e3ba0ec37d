import { createDeadlines } from "../core/deadlines.ts";
import type { Scheduler } from "../io/drive.ts";
import type { TunnelClock } from "../tunnel.ts";

/** Time that passes only when a test says so; also the event loop of everything that runs on it. */
export type VirtualClock = {
  readonly clock: TunnelClock;
  readonly scheduler: Scheduler;
  /** Runs everything that falls due within the next `durationMs`, in order, and ends that much later. */
  readonly advance: (durationMs: number) => void;
};

export function createVirtualClock(startUnixMs: number): VirtualClock {
  const deadlines = createDeadlines();
  const tasks = new Map<number, () => void>();
  let nowMs = 0;
  let nextKey = 0;

  const schedule = (atMs: number, run: () => void): (() => void) => {
    nextKey += 1;
    const key = nextKey;
    tasks.set(key, run);
    // Tasks of one moment run in the order in which they were scheduled.
    deadlines.set(key, atMs + key * TIE_MS);
    return () => {
      tasks.delete(key);
      deadlines.set(key, null);
    };
  };

  return {
    clock: { nowMs: () => nowMs, unixMs: () => startUnixMs + nowMs },
    scheduler: {
      soon: (run) => schedule(nowMs, run),
      after: (delayMs, run) => schedule(nowMs + delayMs, run),
    },
    advance(durationMs) {
      const endMs = nowMs + durationMs;
      for (;;) {
        const dueMs = deadlines.nextAtMs();
        const key = deadlines.takeDue(endMs + 0.5);
        if (dueMs === null || key === null) break;
        nowMs = Math.min(Math.max(nowMs, Math.floor(dueMs)), endMs);
        const task = tasks.get(key);
        tasks.delete(key);
        task?.();
      }
      nowMs = endMs;
    },
  };
}

/** Small enough that a million tasks stay inside their millisecond. */
const TIE_MS = 2 ** -22;
