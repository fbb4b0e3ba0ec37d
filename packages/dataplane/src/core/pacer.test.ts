import { expect, test } from "vitest";
import { createPacer } from "./pacer.ts";

test("lets a burst through at once and spreads the rest at the rate", () => {
  const pacer = createPacer({ perSecond: 1_000, burst: 32 });

  const places = Array.from({ length: 132 }, () => pacer.reserve(5));

  expect(places.filter((atMs) => atMs === 5)).toHaveLength(32);
  expect(places.at(-1)).toBe(5 + 100);
});

test("recovers the burst after a quiet time", () => {
  const pacer = createPacer({ perSecond: 1_000, burst: 2 });
  for (let round = 0; round < 50; round += 1) pacer.reserve(0);

  expect([pacer.reserve(1_000), pacer.reserve(1_000), pacer.reserve(1_000)]).toEqual([1_000, 1_000, 1_001]);
});
