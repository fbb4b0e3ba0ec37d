import { describe, expect, test } from "vitest";

import { aLog } from "../testing/fixtures.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import { createEngineRestart } from "./engine-restart.ts";

describe("an engine that fails", () => {
  test("is taken down and made again at once", () => {
    const { restart, steps } = start();

    restart.failed("worker 0: out of bounds");

    expect(steps).toEqual(["down@0", "up@0", "changed@0"]);
    expect(restart.state()).toEqual({
      restarts: 1,
      lastFailure: { reason: "worker 0: out of bounds", atMs: START_MS },
    });
  });

  test("waits longer and longer when it fails in a row, half a minute at most", () => {
    const { restart, steps, advance } = start();

    for (let failure = 0; failure < 10; failure += 1) {
      restart.failed("again");
      advance(30_000);
    }

    const ups = steps.filter((step) => step.startsWith("up")).map((step) => Number(step.split("@")[1]) % 30_000);
    expect(ups).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 0, 0]);
  });

  test("starts at once again after it was sound for a minute", () => {
    const { restart, steps, advance } = start();
    restart.failed("first");
    advance(60_000);

    restart.failed("second");

    expect(steps).toEqual(["down@0", "up@0", "changed@0", "down@60000", "up@60000", "changed@60000"]);
  });

  test("is a problem that people see for an hour", () => {
    const { restart, advance } = start();
    expect(restart.problems()).toEqual([]);

    restart.failed("worker 1: oh");

    expect(restart.problems()).toEqual(["engine: restarted once, last at 2023-11-14T22:13:20.000Z: worker 1: oh"]);
    advance(3_600_000);
    expect(restart.problems()).toEqual([]);
    expect(restart.state().restarts).toBe(1);
  });

  test("is not made again after the agent stopped", () => {
    const { restart, steps, advance } = start();
    restart.failed("first");
    restart.failed("second");

    restart.stop();
    advance(60_000);

    expect(steps.filter((step) => step.startsWith("up"))).toEqual(["up@0"]);
  });
});

const START_MS = 1_700_000_000_000;

function start() {
  const { timers, advance } = createVirtualTimers();
  const steps: string[] = [];
  const note = (step: string) => (): void => void steps.push(`${step}@${timers.nowMs()}`);
  const restart = createEngineRestart({
    timers,
    wallClockMs: () => START_MS + timers.nowMs(),
    log: aLog().log,
    takeDown: note("down"),
    rebuild: note("up"),
    changed: note("changed"),
  });
  return { restart, steps, advance };
}
