import { expect, test } from "vitest";
import { javascriptStacks } from "./javascript-stacks.ts";
import { stageTimes, withStages } from "./stage-stacks.ts";

test("samples of V8 become stacks without the root, without sleep and without the place of installation", () => {
  const frame = (functionName: string, url = ""): { functionName: string; scriptId: string; url: string } & Place => ({
    functionName,
    scriptId: "1",
    url,
    lineNumber: 41,
    columnNumber: 0,
  });
  const stacks = javascriptStacks({
    startTime: 0,
    endTime: 1,
    nodes: [
      { id: 1, callFrame: frame("(root)"), hitCount: 0, children: [2, 3, 5] },
      { id: 2, callFrame: frame("(idle)"), hitCount: 90 },
      { id: 3, callFrame: frame("tick", "file:///opt/weft/lib/daemon/node.js"), hitCount: 4, children: [4] },
      { id: 4, callFrame: frame("", "node:internal/timers"), hitCount: 2 },
      { id: 5, callFrame: frame("(garbage collector)"), hitCount: 1 },
    ],
  });

  expect(stacks).toEqual([
    { thread: "javascript", frames: ["tick daemon/node.js:42"], count: 4 },
    { thread: "javascript", frames: ["tick daemon/node.js:42", "(anonymous) node:internal/timers:42"], count: 2 },
    { thread: "javascript", frames: ["(garbage collector)"], count: 1 },
  ]);
});

type Place = { readonly lineNumber: number; readonly columnNumber: number };

test("stage times divide the time of a worker; what they do not explain stays with the thread", () => {
  const counters = (sealNs: bigint, idleNs: bigint) => ({
    shards: {
      columns: ["shard", "stage", "nanoseconds"],
      rows: 2,
      values: BigUint64Array.of(3n, 0n, sealNs, 3n, 1n, idleNs),
      stageNames: ["seal", "idle"],
    },
  });
  const before = stageTimes(counters(1_000_000_000n, 0n));
  const after = stageTimes(counters(3_500_000_000n, 9_000_000_000n));

  const stacks = withStages(
    [
      { thread: "weft-shard-3", frames: [], count: 300 },
      { thread: "node", frames: [], count: 5 },
    ],
    { before, after, frequencyHz: 100 },
  );

  expect(stacks).toEqual([
    { thread: "weft-shard-3", frames: ["seal"], count: 250 },
    { thread: "weft-shard-3", frames: [], count: 50 },
    { thread: "node", frames: [], count: 5 },
  ]);
});
