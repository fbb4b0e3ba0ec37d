import { performance } from "node:perf_hooks";
import type { TunnelClock } from "../tunnel.ts";
import type { Scheduler } from "./drive.ts";

/** The event loop of this process. Timers keep it alive, as a running tunnel should. */
export function createNodeScheduler(): Scheduler {
  return {
    soon(run) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

export function createNodeClock(): TunnelClock {
  return { nowMs: () => performance.now(), unixMs: () => Date.now() };
}
