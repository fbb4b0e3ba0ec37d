/**
 * When a failed delivery is tried again: 10 s later, then twice as long each time up to an hour, give or take a fifth.
 * `null` once the last attempt would lie more than 24 h behind the event.
 *
 * @param chance from 0 to 1
 */
export function nextAttempt(
  delivery: { readonly attempts: number; readonly createdAtMs: number },
  nowMs: number,
  chance: number,
): number | null {
  const plainMs = Math.min(FIRST_MS * 2 ** Math.min(delivery.attempts - 1, 20), LONGEST_MS);
  const atMs = nowMs + Math.round(plainMs * (0.8 + 0.4 * chance));
  return atMs > delivery.createdAtMs + GIVE_UP_MS ? null : atMs;
}

const FIRST_MS = 10_000;
const LONGEST_MS = 3_600_000;
/** How long a receiver may be away. */
export const GIVE_UP_MS = 24 * 3_600_000;
