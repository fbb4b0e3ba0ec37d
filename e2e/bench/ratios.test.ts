import { expect, test } from "vitest";

import { TUNNEL_BARS } from "./bars.ts";
import { computeRatios, type Bar } from "./ratios.ts";

const rows = [
  { name: "tcp-1", contender: "weft", median: 3.2, extra: { cpuSecondsPerGB: 4 } },
  { name: "tcp-1", contender: "wireguard-go", median: 1.6, extra: { cpuSecondsPerGB: 8 } },
];

test("a ratio divides medians and says whether it reaches its bar", () => {
  const ratios = computeRatios(TUNNEL_BARS, rows);

  expect(ratios).toContainEqual({
    name: "tcp-1: weft / wireguard-go",
    value: 2,
    bar: 1.6,
    direction: "at least",
    holds: true,
  });
});

test("a ratio of extra values with an upper bar holds below it", () => {
  const ratios = computeRatios(TUNNEL_BARS, rows);

  expect(ratios).toContainEqual({
    name: "cpu-per-GB: weft / wireguard-go",
    value: 0.5,
    bar: 0.55,
    direction: "at most",
    holds: true,
  });
});

test("a missed bar is reported as missed", () => {
  const bar: Bar = {
    name: "too much",
    value: { case: "tcp-1", contender: "weft" },
    dividedBy: { case: "tcp-1", contender: "wireguard-go" },
    direction: "at least",
    bar: 2.1,
  };

  expect(computeRatios([bar], rows)[0]?.holds).toBe(false);
});

test("a difference is taken from a baseline row", () => {
  const bar: Bar = {
    name: "above",
    value: { case: "tcp-1", contender: "weft" },
    minus: { case: "tcp-1", contender: "wireguard-go" },
    direction: "at most",
    bar: 2,
  };

  expect(computeRatios([bar], rows)[0]?.value).toBeCloseTo(1.6);
});

test("ratios whose terms were not measured are left out", () => {
  const names = computeRatios(TUNNEL_BARS, rows).map((ratio) => ratio.name);

  expect(names).toEqual(["tcp-1: weft / wireguard-go", "cpu-per-GB: weft / wireguard-go"]);
});
