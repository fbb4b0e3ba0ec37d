import { describe, expect, test } from "vitest";
import { nativeAddon } from "../native.ts";
import type { CpuProfile } from "./cpu-profile.ts";
import { recordCpuProfile } from "./record-cpu-profile.ts";

const addon = nativeAddon();
const noAddon = addon.ok ? null : addon.error.message;

describe.skipIf(noAddon !== null)(`recording this process${noAddon ? ` (skipped: ${noAddon})` : ""}`, () => {
  test.each(["kernel", "user", "threads"] as const)(
    "a busy JavaScript function is found by its name, with %s at most",
    async (atMost) => {
      const profile = await recordWhileBusy(atMost);

      const busy = profile.stacks.filter(({ frames }) =>
        frames.some((frame) => frame.startsWith("aFunctionThatIsBusy")),
      );
      expect(busy.map(({ thread }) => thread)).toContain("javascript");
      expect(profile.stacks.map(({ thread }) => thread)).not.toContain("main");
      expect(ORDER.indexOf(profile.method)).toBeGreaterThanOrEqual(ORDER.indexOf(atMost));
      expect(profile.reason === null).toBe(profile.method === "kernel");
    },
  );

  test("only one is recorded at a time, and the next one can follow", async () => {
    const first = await record("user");
    const second = await record("user");
    if (!first.ok) throw new Error(first.error.message);
    await first.value.stop();
    const third = await record("user");
    if (!third.ok) throw new Error(third.error.message);
    await third.value.stop();

    expect(second.ok ? "" : second.error.message).toContain("another profile");
  });
});

const ORDER = ["kernel", "user", "threads"];
const record = (atMost: CpuProfile["method"]) =>
  recordCpuProfile({ frequencyHz: 499, durationMsMax: 60_000, atMost, tunnel: null });

async function recordWhileBusy(atMost: CpuProfile["method"]): Promise<CpuProfile> {
  const recording = await record(atMost);
  if (!recording.ok) throw new Error(recording.error.message);
  const endsAt = performance.now() + 500;
  while (performance.now() < endsAt) aFunctionThatIsBusy();
  const profile = await recording.value.stop();
  if (!profile.ok) throw new Error(profile.error.message);
  return profile.value;
}

function aFunctionThatIsBusy(): number {
  let sum = 0;
  for (let round = 0; round < 1_000_000; round += 1) sum = (sum * 31 + round) % 1_000_003;
  return sum;
}
