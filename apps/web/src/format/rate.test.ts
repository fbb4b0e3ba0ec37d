import { describe, expect, test } from "vitest";
import { axisCeiling, formatRate, formatRateShort } from "./rate.ts";

describe("rates", () => {
  test.each([
    { rate: 0, text: "0 bit/s" },
    { rate: 999, text: "999 bit/s" },
    { rate: 1_000, text: "1.00 kbit/s" },
    { rate: 999_600, text: "1.00 Mbit/s" },
    { rate: 3_412_000_000, text: "3.41 Gbit/s" },
    { rate: 41_700_000, text: "41.7 Mbit/s" },
    { rate: 812_300, text: "812 kbit/s" },
    { rate: -5, text: "0 bit/s" },
    { rate: Number.NaN, text: "0 bit/s" },
  ])("writes $rate as $text", ({ rate, text }) => {
    expect(formatRate(rate)).toBe(text);
  });

  test.each([
    { rate: 0, text: "0" },
    { rate: 2_500_000_000, text: "2.5G" },
    { rate: 10_000, text: "10k" },
  ])("writes $rate on an axis as $text", ({ rate, text }) => {
    expect(formatRateShort(rate)).toBe(text);
  });
});

describe("the axis", () => {
  test.each([
    { peak: 0, ceiling: 10_000 },
    { peak: 10_001, ceiling: 20_000 },
    { peak: 1_000_000, ceiling: 1_000_000 },
    { peak: 1_000_001, ceiling: 2_000_000 },
    { peak: 2_100_000_000, ceiling: 5_000_000_000 },
    { peak: 6_000_000, ceiling: 10_000_000 },
  ])("ends at $ceiling for a peak of $peak", ({ peak, ceiling }) => {
    expect(axisCeiling(peak)).toBe(ceiling);
  });

  test("does not move while the peak moves below a step", () => {
    const ceilings = new Set([2_100, 2_900, 4_999].map((thousand) => axisCeiling(thousand * 1_000)));

    expect(ceilings.size).toBe(1);
  });
});
