import { expect, test } from "vitest";

import { planVisits } from "./visits.ts";

const cases = [
  { name: "tcp-1", group: "one stream" },
  { name: "tcp-1-v6", group: "one stream" },
  { name: "tcp-4", group: "four streams" },
];

function order(rounds: number, wants: (caseName: string, contender: string) => boolean = () => true): string[] {
  const visits = planVisits({ cases, contenders: ["weft", "wireguard-go"], rounds, wants });
  return visits.map(({ round, caseName, contender }) => `${String(round)} ${caseName} ${contender}`);
}

test("cases of one group run side by side for each contender within a round", () => {
  expect(order(1)).toEqual([
    "1 tcp-1 weft",
    "1 tcp-1-v6 weft",
    "1 tcp-1 wireguard-go",
    "1 tcp-1-v6 wireguard-go",
    "1 tcp-4 weft",
    "1 tcp-4 wireguard-go",
  ]);
});

test("every other round goes backwards", () => {
  expect(order(2).slice(4, 8)).toEqual([
    "2 tcp-1-v6 wireguard-go",
    "2 tcp-1 wireguard-go",
    "2 tcp-1-v6 weft",
    "2 tcp-1 weft",
  ]);
});

test("what nobody asked for is not measured", () => {
  expect(order(1, (caseName, contender) => caseName === "tcp-1" || contender === "weft")).toEqual([
    "1 tcp-1 weft",
    "1 tcp-1-v6 weft",
    "1 tcp-1 wireguard-go",
    "1 tcp-4 weft",
  ]);
});
