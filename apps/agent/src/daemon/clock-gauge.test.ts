import fc from "fast-check";
import { expect, test } from "vitest";

import { createClockGauge } from "./clock-gauge.ts";

function setup(aheadMs: number) {
  const clock = { nowMs: 5_000, serverMs: 1_800_000_000_000, aheadMs };
  const gauge = createClockGauge({
    timers: { nowMs: () => clock.nowMs },
    wallClockMs: () => clock.serverMs + clock.aheadMs,
    changed: () => {},
  });
  /** Asks the server; the question and the answer take so long. */
  const ask = (thereMs: number, backMs: number): void => {
    const sinceMs = clock.nowMs;
    pass(thereMs);
    const told = clock.serverMs;
    pass(backMs);
    gauge.told(told, sinceMs);
  };
  const pass = (ms: number): void => {
    clock.nowMs += ms;
    clock.serverMs += ms;
  };
  return { clock, gauge, ask, pass };
}

test("AP-7 the measured skew is off by no more than half of the quickest answer took, however far clocks are apart", () => {
  const delay = fc.integer({ min: 0, max: 2_000 });
  fc.assert(
    fc.property(
      fc.integer({ min: -48 * 3_600_000, max: 48 * 3_600_000 }),
      fc.array(fc.tuple(delay, delay), { minLength: 1, maxLength: 4 }),
      (aheadMs, ways) => {
        const { gauge, ask } = setup(aheadMs);
        for (const [there, back] of ways) ask(there, back);

        const quickest = Math.min(...ways.map(([there, back]) => there + back));
        expect(Math.abs((gauge.skewMs() ?? NaN) - aheadMs)).toBeLessThanOrEqual(quickest / 2 + 1);
      },
    ),
  );
});

test("AP-7 from one second on people are told, in both directions, and not below it", () => {
  const told = [-3_600_000, -1_000, -999, 0, 999, 1_000, 7_200_500].map((aheadMs) => {
    const { gauge, ask } = setup(aheadMs);
    ask(20, 20);
    return gauge.problems().map((problem) => problem.slice(0, problem.indexOf(";")));
  });

  expect(told).toEqual([
    ["clock: this host is 3600 s behind the server"],
    ["clock: this host is 1 s behind the server"],
    [],
    [],
    [],
    ["clock: this host is 1 s ahead of the server"],
    ["clock: this host is 7201 s ahead of the server"],
  ]);
});

test("an answer that took too long to say anything warns of nothing", () => {
  const { gauge, ask } = setup(0);
  ask(0, 3_000);

  expect(gauge.problems()).toEqual([]);
});

test("a clock that is set is seen at once, without another question", () => {
  const { clock, gauge, ask, pass } = setup(0);
  ask(10, 10);
  pass(40_000);
  expect(gauge.skewMs()).toBe(0);

  clock.aheadMs = -90_000;

  expect(gauge.skewMs()).toBe(-90_000);
});

test("before the first answer, and after a stream ended, nothing is known", () => {
  const { gauge, ask } = setup(90_000);
  expect(gauge.skewMs()).toBeNull();
  ask(1, 1);
  gauge.reset();

  expect(gauge.skewMs()).toBeNull();
  expect(gauge.problems()).toEqual([]);
});
