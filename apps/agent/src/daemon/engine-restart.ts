import type { Timers } from "../stream/timers.ts";
import type { Log } from "./log.ts";

/** What is known about engines that ended by themselves. */
export type EngineRestarts = {
  readonly restarts: number;
  readonly lastFailure: { readonly reason: string; readonly atMs: number } | null;
};

/** Starts the engine again when it fails: at once the first time, later and later when it fails in a row. */
export type EngineRestart = {
  /** The engine cannot go on. */
  readonly failed: (reason: string) => void;
  /** `atMs` is wall-clock time. */
  readonly state: () => EngineRestarts;
  /** One sentence while the last failure is recent. */
  readonly problems: () => readonly string[];
  readonly stop: () => void;
};

export type EngineRestartDeps = {
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly log: Log;
  /** Removes what is left of the tunnel. */
  readonly takeDown: () => void;
  /** Makes the tunnel anew, and goes on trying when that fails. */
  readonly rebuild: () => void;
  /** Something that others show has changed. */
  readonly changed: () => void;
};

export function createEngineRestart(deps: EngineRestartDeps): EngineRestart {
  const { timers } = deps;
  let restarts = 0;
  let inARow = 0;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let last: EngineRestarts["lastFailure"] = null;
  let cancel = (): void => {};
  return {
    failed(reason) {
      const nowMs = timers.nowMs();
      inARow = nowMs - failedAtMs < STABLE_AFTER_MS ? inARow + 1 : 0;
      failedAtMs = nowMs;
      restarts += 1;
      last = { reason, atMs: deps.wallClockMs() };
      const delayMs = inARow === 0 ? 0 : Math.min(DELAY_MS_MIN * 2 ** (inARow - 1), DELAY_MS_MAX);
      deps.log.error("engine_restart", { reason, restarts, delayMs });
      deps.takeDown();
      cancel();
      if (delayMs === 0) deps.rebuild();
      else cancel = timers.after(delayMs, deps.rebuild);
      deps.changed();
    },
    state: () => ({ restarts, lastFailure: last }),
    problems() {
      if (!last || timers.nowMs() - failedAtMs >= SHOWN_FOR_MS) return [];
      const times = restarts === 1 ? "once" : `${restarts} times`;
      return [`engine: restarted ${times}, last at ${new Date(last.atMs).toISOString()}: ${last.reason}`.slice(0, 500)];
    },
    stop: () => cancel(),
  };
}

/** An engine that ran so long counts as sound: the next failure is a first one again. */
const STABLE_AFTER_MS = 60_000;
const DELAY_MS_MIN = 250;
const DELAY_MS_MAX = 30_000;
const SHOWN_FOR_MS = 3_600_000;
