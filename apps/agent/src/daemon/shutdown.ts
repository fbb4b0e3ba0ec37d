import type { Log } from "./log.ts";
import type { Timers } from "../stream/timers.ts";

/** Something to undo at the end. */
type ShutdownStep = {
  readonly name: string;
  readonly deadlineMs: number;
  readonly run: () => void | Promise<void>;
};

/** Steps in the order in which things were made; `run` undoes them in reverse. */
export type Shutdown = {
  readonly add: (step: ShutdownStep) => void;
  /** Runs every step once, newest first; one that fails or hangs does not stop the others. */
  readonly run: () => Promise<void>;
};

export function createShutdown(timers: Timers, log: Log): Shutdown {
  const steps: ShutdownStep[] = [];
  let running: Promise<void> | null = null;
  const runAll = async (): Promise<void> => {
    for (let step = steps.pop(); step; step = steps.pop()) await runStep(step, timers, log);
  };
  return {
    add: (step) => {
      steps.push(step);
    },
    run: () => (running ??= runAll()),
  };
}

async function runStep(step: ShutdownStep, timers: Timers, log: Log): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<"late">((resolve) => {
    cancel = timers.after(step.deadlineMs, () => resolve("late"));
  });
  try {
    const outcome = await Promise.race([Promise.resolve(step.run()), late]);
    if (outcome === "late") log.warn("shutdown_step_late", { step: step.name, deadlineMs: step.deadlineMs });
  } catch (error) {
    log.error("shutdown_step_failed", {
      step: step.name,
      reason: error instanceof Error ? error.message : String(error),
    });
  } finally {
    cancel();
  }
}
