/** Runs something again and again, never twice at once; the first time after one interval. */
export function startJob(options: {
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}): { readonly dispose: () => void } {
  let isRunning = false;
  // Also turns what is thrown before the first wait into a rejection.
  const runOnce = async () => options.run();
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void runOnce()
      .catch(options.onError)
      .finally(() => (isRunning = false));
  }, options.everyMs);
  timer.unref();
  return { dispose: () => clearInterval(timer) };
}
