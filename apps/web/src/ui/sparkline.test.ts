import { expect, test } from "vitest";
import { areaPath } from "./sparkline.tsx";

const area = { steps: 4, ceiling: 10, side: -1 } as const;

test("draws one closed area, the newest value at the right edge", () => {
  expect(areaPath([0, 10], area)).toBe("M80 14L80 14L120 1L120 14Z");
});

test("a gap splits the area", () => {
  expect(areaPath([10, null, 5, 5], area).match(/M/g)).toHaveLength(2);
});

test("sent values go below the axis", () => {
  expect(areaPath([10], { ...area, side: 1 })).toContain("L120 27");
});

test("a value above the ceiling stays inside the picture", () => {
  expect(areaPath([1_000], area)).toContain("L120 1L");
});

test("nothing but gaps draws nothing", () => {
  expect(areaPath([null, null], area)).toBe("");
});
