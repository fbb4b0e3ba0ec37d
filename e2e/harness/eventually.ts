import { setTimeout as pause } from "node:timers/promises";

export type Patience = { readonly withinMs: number; readonly everyMs?: number };

/**
 * Repeats a probe until it returns something else than `undefined`, and returns that.
 *
 * Rejects after `withinMs` with `what` and the probe's last error, so that a failed wait says what was waited for.
 */
export async function eventually<T>(
  what: string,
  patience: Patience,
  probe: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const deadlineMs = performance.now() + patience.withinMs;
  let lastError: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined) return found;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= deadlineMs) {
      const reason = lastError instanceof Error ? `: ${lastError.message}` : "";
      throw new Error(`${what} did not happen within ${String(patience.withinMs)} ms${reason}`, { cause: lastError });
    }
    await pause(patience.everyMs ?? 100);
  }
}
