import { gunzipSync } from "node:zlib";
import type { CpuProfile, CpuProfileOptions } from "@weft/dataplane";
import { ok } from "@weft/protocol";
import { describe, expect, test } from "vitest";

import { createVirtualTimers } from "../testing/memory-system.ts";
import { bounded, createProfiling, type Profiling } from "./profiling.ts";

describe("profiles of the agent", () => {
  test("one that runs for some seconds ends by itself and comes as folded stacks", async () => {
    const { profiling, advance, asked } = start();

    const running = profiling.run({ seconds: 2, frequencyHz: 50, format: "folded" }, () => false);
    await settle();
    for (let step = 0; step < 10; step += 1) {
      advance(200);
      await settle();
    }

    const report = await running;
    expect(report).toMatchObject({ ok: true, value: { data: "t;a;b 5\nt;c 1\n", samples: 6, threads: ["t"] } });
    expect(asked).toEqual([{ frequencyHz: 50, durationMsMax: 120_000, atMost: "kernel", tunnel: null }]);
  });

  test("one that was started is stopped by command and comes as pprof", async () => {
    const { profiling } = start();

    await profiling.start(99);
    const report = await profiling.stop("pprof");

    const data = report.ok ? gunzipSync(Buffer.from(report.value.data, "base64")) : Buffer.alloc(0);
    expect(data.includes("thread")).toBe(true);
  });

  test("a second one is refused while one works, and a stop without a start too", async () => {
    const { profiling } = start();

    expect(await profiling.stop("folded")).toMatchObject({ ok: false, error: { code: "profile_idle" } });
    await profiling.start(99);
    expect(await profiling.start(99)).toMatchObject({ ok: false, error: { code: "profile_busy" } });
    expect((await profiling.stop("folded")).ok).toBe(true);
    expect((await profiling.start(99)).ok).toBe(true);
  });

  test("one that nobody stops ends after two minutes, and its result waits", async () => {
    const { profiling, advance, stops } = start();
    await profiling.start(99);

    advance(120_000);
    expect(stops()).toBe(1);

    expect((await profiling.stop("folded")).ok).toBe(true);
    expect(stops()).toBe(1);
  });

  test("what exceeds the size is left out from the rarest on, and counted", () => {
    const cut = bounded(PROFILE, 20);

    expect(cut.stacks).toEqual([PROFILE.stacks[0]]);
    expect(cut.lost).toBe(PROFILE.lost + 1);
  });
});

const PROFILE: CpuProfile = {
  method: "user",
  reason: "no right",
  startedAtMs: 0,
  durationMs: 2_000,
  frequencyHz: 50,
  lost: 4,
  stacks: [
    { thread: "t", frames: ["a", "b"], count: 5 },
    { thread: "t", frames: ["c"], count: 1 },
  ],
};

function start(): {
  readonly profiling: Profiling;
  readonly advance: (durationMs: number) => void;
  readonly asked: CpuProfileOptions[];
  readonly stops: () => number;
} {
  const { timers, advance } = createVirtualTimers();
  const asked: CpuProfileOptions[] = [];
  let stops = 0;
  const profiling = createProfiling({
    timers,
    tunnel: () => null,
    record(options) {
      asked.push(options);
      const stop = () => {
        stops += 1;
        return Promise.resolve(ok(PROFILE));
      };
      return Promise.resolve(ok({ stop }));
    },
  });
  return { profiling, advance, asked, stops: () => stops };
}

/** Lets promises that are settled run on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
