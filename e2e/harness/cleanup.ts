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
export async function cleanUpNow(): Promise<void> {
  for (let cleanup = pending.at(-1); cleanup; cleanup = pending.at(-1)) await runOne(cleanup);
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

function installHandlers(): void {
  if (installed) return;
  installed = true;
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      void cleanUpNow().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
    });
  }
  process.once("exit", () => {
    for (const cleanup of pending.toReversed()) cleanup.runSync?.();
  });
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const pending: Cleanup[] = [];
let installed = false;
