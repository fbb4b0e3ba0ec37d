import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { nativeAddon } from "../native.ts";
import type { CpuProfile } from "./cpu-profile.ts";
import { recordCpuProfile } from "./record-cpu-profile.ts";

const BUILT = new URL("../../dist/index.js", import.meta.url);
const addon = nativeAddon();
const noAddon = addon.ok ? null : addon.error.message;
const noReduction = noAddon ?? whyNoReduction();

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

describe.skipIf(noReduction !== null)(`without capabilities${noReduction ? ` (skipped: ${noReduction})` : ""}`, () => {
  test("the kernel's part is missing, the reason is told, and the rest is there", () => {
    const program = `
      import { recordCpuProfile } from ${JSON.stringify(BUILT.href)};
      function aFunctionThatIsBusy() { let sum = 0; for (let i = 0; i < 1e6; i += 1) sum = (sum * 31 + i) % 1000003; return sum; }
      const recording = await recordCpuProfile({ frequencyHz: 499, durationMsMax: 60000, atMost: "kernel", tunnel: null });
      const endsAt = performance.now() + 500;
      while (performance.now() < endsAt) aFunctionThatIsBusy();
      process.stdout.write(JSON.stringify((await recording.value.stop()).value));`;
    const output = execFileSync(
      "setpriv",
      ["--bounding-set=-all", "--inh-caps=-all", process.execPath, "--input-type=module", "-e", program],
      { encoding: "utf8" },
    );

    const profile: CpuProfile = JSON.parse(output);

    expect(["user", "threads"]).toContain(profile.method);
    expect(profile.reason).not.toBe("");
    expect(profile.stacks.some(({ frames }) => frames.some((name) => name.startsWith("aFunctionThatIsBusy")))).toBe(
      true,
    );
  });
});

const ORDER = ["kernel", "user", "threads"];
const record = (atMost: CpuProfile["method"]) =>
  recordCpuProfile({ frequencyHz: 499, durationMsMax: 60_000, atMost, tunnel: null });

/** Why the test cannot give its rights away. */
function whyNoReduction(): string | null {
  if (process.getuid?.() !== 0) return "needs root, to have rights that can be dropped";
  if (!existsSync(BUILT)) return "packages/dataplane is not built";
  // The rights that a permissive system gives to everybody cannot be dropped.
  if (Number(readFileSync("/proc/sys/kernel/perf_event_paranoid", "utf8")) < 2)
    return "everybody may watch the kernel here";
  return spawnSync("setpriv", ["--version"]).status === 0 ? null : "needs setpriv";
}

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
