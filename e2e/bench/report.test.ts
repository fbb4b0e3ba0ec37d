import { expect, test } from "vitest";

import { formatNumber, formatReport, toCaseReport, type BenchReport } from "./report.ts";

const report: BenchReport = {
  suite: "tunnel",
  version: "0.1.0",
  startedAt: "2026-12-01T10:00:00Z",
  host: { cpu: "Test CPU", cores: 2, kernel: "6.18", loadBefore: 0.1 },
  settings: { rounds: 3, seconds: 5, innerMtu: 1420 },
  cases: [
    {
      name: "tcp-1",
      contender: "weft",
      unit: "Gbit/s",
      runs: [3, 3.2, 3.1],
      median: 3.1,
      min: 3,
      max: 3.2,
      extra: { cpuSecondsPerGB: 4.123 },
      samples: [],
    },
  ],
  ratios: [
    {
      name: "tcp-1: weft / wireguard-go",
      value: 1.2,
      min: 1.1,
      max: 1.3,
      ofMedians: 1.25,
      bar: 1.6,
      direction: "at least",
      holds: false,
    },
  ],
  skipped: [{ contender: "boringtun", reason: "WEFT_BENCH_BORINGTUN is not set" }],
  problems: ["tcp-1, weft: traffic took another path"],
};

test("the table holds every case with its spread and what was measured beside it", () => {
  const text = formatReport(report);

  expect(text).toMatch(/tcp-1\s+weft\s+3\.10\s+3–3\.20\s+Gbit\/s\s+cpuSecondsPerGB 4\.12/);
});

test("missed bars, skipped contenders and problems are named", () => {
  const text = formatReport(report);

  expect(text).toContain("bar at least 1.60: MISSED");
  expect(text).toContain("boringtun: WEFT_BENCH_BORINGTUN is not set");
  expect(text).toContain("tcp-1, weft: traffic took another path");
});

test.each([
  { value: 12_345.6, text: "12346" },
  { value: 3, text: "3" },
  { value: 12.34, text: "12.3" },
  { value: 1.234, text: "1.23" },
])("$value is written as $text", ({ value, text }) => {
  expect(formatNumber(value)).toBe(text);
});

test("a row holds the median of its runs, medians of what was beside them, and every single round", () => {
  const samples = [
    { round: 1, value: 1, extra: { retransmits: 4 } },
    { round: 2, value: 3, extra: { retransmits: 2 } },
    { round: 3, value: 2, extra: { retransmits: 9 } },
  ];
  const row = toCaseReport({ name: "tcp-1", contender: "weft", unit: "Gbit/s", samples, late: { syscallsPerMB: 31 } });

  expect(row).toMatchObject({
    runs: [1, 3, 2],
    median: 2,
    min: 1,
    max: 3,
    extra: { retransmits: 4, syscallsPerMB: 31 },
  });
  expect(row.samples).toEqual(samples);
});
