import { beforeEach, describe, expect, test } from "vitest";
import { keepSubscribed, type LiveHandlers, type LiveState, SILENCE_MS } from "./keep-subscribed.ts";

type Timer = { run: () => void; atMs: number };

/** A bench with a clock that moves only when told. */
function createBench() {
  let nowMs = 0;
  let timers: Timer[] = [];
  const connections: { handlers: LiveHandlers<string>; state: "open" | "closed" }[] = [];
  const states: LiveState[] = [];
  const events: string[] = [];
  const ends: unknown[] = [];
  const stop = keepSubscribed<string>({
    source(handlers) {
      const connection: (typeof connections)[number] = { handlers, state: "open" };
      connections.push(connection);
      return () => (connection.state = "closed");
    },
    onEvent: (event) => events.push(event),
    onState: (state) => states.push(state),
    onEnd: (error) => ends.push(error),
    nowMs: () => nowMs,
    random: () => 1,
    later(run, delayMs) {
      const timer = { run, atMs: nowMs + delayMs };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
  });
  return {
    connections,
    states,
    events,
    ends,
    stop,
    newest: () => connections.at(-1)!.handlers,
    advance(milliseconds: number) {
      const untilMs = nowMs + milliseconds;
      for (;;) {
        const due = timers
          .filter((timer) => timer.atMs <= untilMs)
          .sort((a, b) => a.atMs - b.atMs)
          .at(0);
        if (!due) break;
        nowMs = due.atMs;
        timers = timers.filter((timer) => timer !== due);
        due.run();
      }
      nowMs = untilMs;
    },
    timers: () => timers.length,
  };
}

let bench = createBench();
beforeEach(() => {
  bench = createBench();
});

describe("a subscription that is kept", () => {
  test("is connecting at first, live with the first event", () => {
    bench.newest().onEvent("a");

    expect(bench.states.map((state) => state.state)).toEqual(["connecting", "live"]);
    expect(bench.events).toEqual(["a"]);
  });

  test("reconnects after an end and tells since when nothing came", () => {
    bench.advance(1_000);
    bench.newest().onEvent("a");
    bench.advance(2_000);
    bench.newest().onEnd("gone");

    expect(bench.states.at(-1)).toEqual({ state: "paused", sinceMs: 1_000 });
    expect(bench.ends).toEqual(["gone"]);
    bench.advance(500);
    expect(bench.connections.map((connection) => connection.state)).toEqual(["closed", "open"]);
  });

  test("waits longer after each failure, and never longer than eight seconds", () => {
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      bench.newest().onEnd(null);
      const before = bench.connections.length;
      let waited = 0;
      while (bench.connections.length === before) {
        bench.advance(100);
        waited += 100;
      }
      waits.push(waited);
    }

    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  test("starts with short waits again after it was live", () => {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      bench.newest().onEnd(null);
      bench.advance(8_000);
    }
    bench.newest().onEvent("a");
    bench.newest().onEnd(null);
    const before = bench.connections.length;

    bench.advance(500);

    expect(bench.connections.length).toBe(before + 1);
  });

  test("takes silence for a loss even when nothing reported one", () => {
    bench.newest().onEvent("a");

    bench.advance(SILENCE_MS);

    expect(bench.states.at(-1)).toEqual({ state: "paused", sinceMs: 0 });
    bench.advance(500);
    expect(bench.connections).toHaveLength(2);
  });

  test("says live when events come again", () => {
    bench.newest().onEnd(null);
    bench.advance(500);
    bench.newest().onEvent("b");

    expect(bench.states.at(-1)).toEqual({ state: "live" });
  });

  test("stops for good: the stream is closed, no timer is left, late events are ignored", () => {
    const handlers = bench.newest();
    handlers.onEvent("a");

    bench.stop();
    handlers.onEvent("late");
    handlers.onEnd(null);

    expect(bench.connections.at(0)?.state).toBe("closed");
    expect(bench.timers()).toBe(0);
    expect(bench.events).toEqual(["a"]);
    expect(bench.states.at(-1)).toEqual({ state: "idle" });
  });
});
