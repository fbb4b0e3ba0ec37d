import { expect, test } from "vitest";
import { createRateLimiter } from "./rate-limiter.ts";

test("lets a burst through, then the rate, per key", () => {
  const limiter = createRateLimiter({ perSecond: 20, burst: 5, keysMax: 10 });

  const allowed = Array.from({ length: 1_000 }, (_, nowMs) => limiter.allow("a", nowMs)).filter(Boolean).length;

  expect(allowed).toBeGreaterThanOrEqual(24);
  expect(allowed).toBeLessThanOrEqual(25);
  expect(limiter.allow("b", 999)).toBe(true);
});

test("forgets the key seen longest ago when it is full", () => {
  const limiter = createRateLimiter({ perSecond: 0, burst: 1, keysMax: 2 });
  limiter.allow("a", 0);
  limiter.allow("b", 0);
  limiter.allow("a", 0);
  limiter.allow("c", 0);

  expect(limiter.allow("a", 0)).toBe(false);
  expect(limiter.allow("b", 0)).toBe(true);
});
