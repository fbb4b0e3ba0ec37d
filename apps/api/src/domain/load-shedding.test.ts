import { expect, test } from "vitest";
import { createDoorkeeper, createLagMeter } from "./load-shedding.ts";

test("ticks that come in time are no lag", () => {
  const meter = createLagMeter(50, 0);

  for (let atMs = 50; atMs <= 1_000; atMs += 50) meter.tick(atMs);

  expect(meter.lagMs(1_040)).toBe(0);
});

test("SC-7 a turn of the loop that takes long is seen while it lasts, before any timer fires", () => {
  const meter = createLagMeter(50, 0);
  meter.tick(50);

  expect(meter.lagMs(190)).toBe(90);
  expect(meter.lagMs(400)).toBe(300);
});

test("SC-7 a delay is remembered for a moment and forgotten within a second", () => {
  const meter = createLagMeter(50, 0);
  meter.tick(450);
  const right = meter.lagMs(450);

  for (let step = 1; step <= 20; step += 1) meter.tick(450 + step * 50);

  expect(right).toBe(400);
  expect(meter.lagMs(1_450)).toBeLessThan(10);
});

test("SC-7 a crowd is sent away well before the lag reaches 200 ms, spread over seconds", () => {
  let chance = 0;
  const door = createDoorkeeper(() => (chance += 1));

  const calm = Array.from({ length: 1_000 }, () => door.waitSeconds({ lagMs: 99, nowMs: 0 }));
  const crowd = Array.from({ length: 1_000 }, () => door.waitSeconds({ lagMs: 100, nowMs: 0 }));

  expect(new Set(calm)).toEqual(new Set([undefined]));
  expect(crowd.filter((wait) => wait === undefined)).toHaveLength(10);
  expect(new Set(crowd.slice(10))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
});

test("a few nodes get in on a machine that is always slow", () => {
  const door = createDoorkeeper(() => 0);

  const admitted = Array.from({ length: 60 }, (_, second) => door.waitSeconds({ lagMs: 900, nowMs: second * 1_000 }));

  expect(new Set(admitted)).toEqual(new Set([undefined]));
});
