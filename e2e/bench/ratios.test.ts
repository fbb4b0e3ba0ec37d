import { expect, test } from "vitest";

import { CONTROL_PLANE_BARS, LATENCY_BARS, TUNNEL_BARS } from "./bars.ts";
import { asksFor, computeRatios, type Bar } from "./ratios.ts";

const weft = {
  name: "tcp-1",
  contender: "weft",
  samples: [
    { round: 1, value: 6, extra: { cpuSecondsPerGB: 2 } },
    { round: 2, value: 3, extra: { cpuSecondsPerGB: 3 } },
    { round: 3, value: 5, extra: { cpuSecondsPerGB: 2 } },
  ],
};
const wireguardGo = {
  name: "tcp-1",
  contender: "wireguard-go",
  samples: [
    { round: 1, value: 2, extra: { cpuSecondsPerGB: 8 } },
    { round: 2, value: 1, extra: { cpuSecondsPerGB: 10 } },
    { round: 3, value: 2, extra: { cpuSecondsPerGB: 8 } },
  ],
};

function compare(bar: Partial<Bar>): Bar {
  return {
    name: "test",
    value: { case: "tcp-1", contender: "weft" },
    dividedBy: { case: "tcp-1", contender: "wireguard-go" },
    direction: "at least",
    bar: 3,
    ...bar,
  };
}

test("a ratio is the median over the rounds of values measured side by side", () => {
  const [ratio] = computeRatios([compare({})], [weft, wireguardGo]);

  // The machine was slow in round 2: both terms fell, their ratio did not.
  expect(ratio).toEqual({
    name: "test",
    value: 3,
    min: 2.5,
    max: 3,
    ofMedians: 2.5,
    bar: 3,
    direction: "at least",
    holds: true,
  });
});

test("a round in which one of the two failed is left out", () => {
  const failedOnce = { ...wireguardGo, samples: wireguardGo.samples.filter(({ round }) => round !== 1) };

  expect(computeRatios([compare({})], [weft, failedOnce])[0]).toMatchObject({ min: 2.5, max: 3, value: 2.75 });
});

test("a ratio of extra values with an upper bar holds below it", () => {
  const ratios = computeRatios(TUNNEL_BARS, [weft, wireguardGo]);

  expect(ratios.map(({ name }) => name)).toEqual(["tcp-1: weft / wireguard-go", "cpu-per-GB: weft / wireguard-go"]);
  expect(ratios[1]).toMatchObject({ value: 0.25, direction: "at most", holds: true });
});

test("a missed bar is reported as missed", () => {
  expect(computeRatios([compare({ bar: 3.1 })], [weft, wireguardGo])[0]?.holds).toBe(false);
});

test("a difference is taken from a baseline row", () => {
  const { dividedBy: baseline, ...bar } = compare({});
  const ratios = computeRatios([{ ...bar, ...(baseline ? { minus: baseline } : {}) }], [weft, wireguardGo]);

  expect(ratios[0]).toMatchObject({ value: 3, min: 2, max: 4 });
});

test("the best peer is the one with the best median, and is named", () => {
  const bestOf = ["boringtun", "wireguard-go", "gotatun"];
  const slow = { name: "tcp-1", contender: "boringtun", samples: [{ round: 1, value: 1, extra: {} }] };
  const bar = compare({ dividedBy: { case: "tcp-1", contender: { bestOf, by: "highest" } } });

  expect(computeRatios([bar], [weft, wireguardGo, slow])[0]).toMatchObject({ against: "wireguard-go", value: 3 });
});

test("a bar asks for every contender that could be the best", () => {
  const [best] = LATENCY_BARS;

  expect(best && asksFor(best, { case: "ping-idle", contender: "gotatun" })).toBe(true);
  expect(best && asksFor(best, { case: "ping-idle", contender: "yip" })).toBe(false);
  expect(best && asksFor(best, { case: "ping-loaded", contender: "gotatun" })).toBe(false);
});

test("a budget's ratio is the share that was used, and holds up to the whole of it", () => {
  const joined = (bytesPerAgent: number) => [
    { name: "join", contender: "weft", samples: [{ round: 1, value: 300, extra: { bytesPerAgent } }] },
  ];
  const ratiosOf = (bytesPerAgent: number) => computeRatios(CONTROL_PLANE_BARS, joined(bytesPerAgent));

  expect(ratiosOf(1_000)).toMatchObject([
    { name: "B1 p95", value: 0.3, bar: 1, holds: true },
    { name: "B1 bytes", value: 1, holds: true },
  ]);
  expect(ratiosOf(1_001).at(1)).toMatchObject({ value: 1.001, holds: false });
});
