import type { Clock } from "@weft/protocol";

/** Time and waiting as inputs. The clock never goes back. */
export type Timers = Clock & {
  /** Calls once after the delay; the returned function cancels. */
  readonly after: (delayMs: number, run: () => void) => () => void;
};

/** The process's own clock and timers. A pending timer keeps the process alive only where `ref` is asked for. */
export function systemTimers(): Timers {
  return {
    nowMs: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
