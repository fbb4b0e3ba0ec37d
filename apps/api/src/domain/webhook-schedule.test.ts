import fc from "fast-check";
import { expect, test } from "vitest";
import { GIVE_UP_MS, nextAttempt } from "./webhook-schedule.ts";

test("waits ten seconds at first, doubles up to an hour, and gives up after a day", () => {
  const waits: number[] = [];
  let nowMs = 0;
  for (let attempts = 1; ; attempts += 1) {
    const atMs = nextAttempt({ attempts, createdAtMs: 0 }, nowMs, 0.5);
    if (atMs === null) break;
    waits.push(atMs - nowMs);
    nowMs = atMs;
  }

  expect(waits.slice(0, 4)).toEqual([10_000, 20_000, 40_000, 80_000]);
  expect(Math.max(...waits)).toBe(3_600_000);
  expect(nowMs).toBeGreaterThan(GIVE_UP_MS - 2 * 3_600_000);
  expect(nowMs).toBeLessThanOrEqual(GIVE_UP_MS);
});

test("never tries again in the past or after the day is over", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.nat(2 * GIVE_UP_MS),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, nowMs, chance) => {
        const atMs = nextAttempt({ attempts, createdAtMs: 0 }, nowMs, chance);
        if (atMs !== null) {
          expect(atMs).toBeGreaterThan(nowMs);
          expect(atMs).toBeLessThanOrEqual(GIVE_UP_MS);
        }
      },
    ),
  );
});
