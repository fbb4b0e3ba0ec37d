import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { expect, test } from "vitest";
import type { CpuProfile } from "./cpu-profile.ts";
import { foldedStacks } from "./folded-stacks.ts";
import { pprofBytes } from "./pprof-bytes.ts";

const PROFILE: CpuProfile = {
  method: "kernel",
  reason: null,
  startedAtMs: 1_700_000_000_000,
  durationMs: 2_000,
  frequencyHz: 100,
  lost: 0,
  stacks: [
    { thread: "weft-shard-0", frames: ["run", "seal"], count: 7 },
    { thread: "weft-shard-0", frames: ["run", "write;\nnow"], count: 3 },
    { thread: "javascript", frames: ["run"], count: 1 },
  ],
};

test("folded stacks are one line each, outermost first, and separators inside of names are replaced", () => {
  expect(foldedStacks(PROFILE)).toBe("weft-shard-0;run;seal 7\nweft-shard-0;run;write::now 3\njavascript;run 1\n");
});

test("a folded stack names every place, also those that have no name", () => {
  const nameless = { ...PROFILE, stacks: [{ thread: "", frames: ["", "run", " "], count: 1 }] };

  expect(foldedStacks(nameless)).toBe("[unknown];[unknown];run;[unknown] 1\n");
});

test("pprof reads back every stack with samples, nanoseconds, thread, start and duration", () => {
  const decoded = Profile.decode(gunzipSync(pprofBytes(PROFILE)));
  const text = (index: number | bigint): string => decoded.stringTable.strings[Number(index)] ?? "";
  const nameOf = new Map(decoded.function.map(({ id, name }) => [Number(id), text(name)]));
  const functionOf = new Map(decoded.location.map(({ id, line }) => [Number(id), Number(line[0]?.functionId)]));
  const stacks = decoded.sample.map(({ locationId, value, label }) => ({
    frames: locationId.map((id) => nameOf.get(functionOf.get(Number(id)) ?? 0)),
    value: value.map(Number),
    labels: label.map(({ key, str }) => [text(key), text(str)]),
  }));

  expect(stacks).toEqual([
    { frames: ["seal", "run", "weft-shard-0"], value: [7, 70_000_000], labels: [["thread", "weft-shard-0"]] },
    { frames: ["write;\nnow", "run", "weft-shard-0"], value: [3, 30_000_000], labels: [["thread", "weft-shard-0"]] },
    { frames: ["run", "javascript"], value: [1, 10_000_000], labels: [["thread", "javascript"]] },
  ]);
  expect(decoded.sampleType.map(({ type, unit }) => [text(type), text(unit)])).toEqual([
    ["samples", "count"],
    ["cpu", "nanoseconds"],
  ]);
  expect([BigInt(decoded.timeNanos), Number(decoded.durationNanos), Number(decoded.period)]).toEqual([
    1_700_000_000_000_000_000n,
    2_000_000_000,
    10_000_000,
  ]);
});
