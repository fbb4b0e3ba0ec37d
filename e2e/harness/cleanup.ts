export type Cleanup = {
  readonly name: string;
  readonly run: () => void | Promise<void>;
  readonly runSync?: () => void;
};

/**
 * Registers something to undo when this process ends, on its own or by a signal. Later ones run first.
 *
 * Returns a function that runs the clean-up now and forgets it.
 */
export function cleanUpLater(cleanup: Cleanup): () => Promise<void> {
  installHandlers();
  pending.push(cleanup);
  let done: Promise<void> | undefined;
  return () => {
    done ??= runOne(cleanup);
    return done;
  };
}

/** Runs every registered clean-up, newest first. Errors are printed, never thrown: the next one must still run. */
export function cleanUpNow(): Promise<void> {
  draining ??= drain();
  return draining;
}

async function drain(): Promise<void> {
  for (let cleanup = pending.at(-1); cleanup; cleanup = pending.at(-1)) await runOne(cleanup);
  draining = undefined;
}

async function runOne(cleanup: Cleanup): Promise<void> {
  const index = pending.indexOf(cleanup);
  if (index === -1) return;
  pending.splice(index, 1);
  try {
    await cleanup.run();
  } catch (error) {
    process.stderr.write(
      `could not clean up ${cleanup.name}: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}

/** Makes a signal the ordinary way to end: clean up, then exit code 0. For programs that run until they are stopped. */
export function endWellOnSignals(): void {
  endingBySignal = "is the ordinary end";
  installHandlers();
}

/** Whether a signal asked this process to end; what ends from now on is no failure. */
export function isEnding(): boolean {
  return ending;
}

function installHandlers(): void {
  if (installed) return;
  installed = true;
  for (const signal of SIGNALS) {
    // A second signal changes nothing: it must not cut short what the first one cleans up.
    process.on(signal, () => {
      ending = true;
      const code = endingBySignal === "is the ordinary end" ? 0 : SIGNAL_CODES[signal];
      void cleanUpNow().finally(() => process.exit(code));
    });
  }
  process.once("exit", () => {
    for (const cleanup of pending.toReversed()) cleanup.runSync?.();
  });
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
const pending: Cleanup[] = [];
let draining: Promise<void> | undefined;
let installed = false;
let ending = false;
let endingBySignal: "is an interruption" | "is the ordinary end" = "is an interruption";
