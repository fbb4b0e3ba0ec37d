import { expect, test } from "vitest";

import { median, percentile, round, summarise } from "./statistics.ts";

test.each([
  { name: "the middle of three values in any order", values: [3, 1, 2], expected: 2 },
  { name: "the mean of the two middle values of four", values: [4, 1, 3, 2], expected: 2.5 },
  { name: "the only value", values: [7], expected: 7 },
  { name: "NaN when nothing was measured", values: [], expected: Number.NaN },
])("the median is $name", ({ values, expected }) => {
  expect(median(values)).toBe(expected);
});

test("percentiles interpolate between neighbours", () => {
  const values = Array.from({ length: 101 }, (_, index) => index);

  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([10, 20], 0.25)).toBe(12.5);
});

test("a summary holds median, minimum and maximum with four significant digits", () => {
  expect(summarise([3.33333, 2.66666, 10.00049])).toEqual({ median: 3.333, min: 2.667, max: 10 });
});

test("rounding leaves infinities alone", () => {
  expect(round(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});
