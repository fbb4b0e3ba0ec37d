import { describe, expect, test } from "vitest";
import { formatDuration, formatRelative, formatRoundTrip } from "./time.ts";

describe("durations", () => {
  test.each([
    { seconds: 0, text: "0 s" },
    { seconds: 59, text: "59 s" },
    { seconds: 60, text: "1 min" },
    { seconds: 83, text: "1 min 23 s" },
    { seconds: 3_600, text: "1 h" },
    { seconds: 11_520, text: "3 h 12 min" },
    { seconds: 180_000, text: "2 d 2 h" },
    { seconds: -4, text: "0 s" },
  ])("writes $seconds s as $text", ({ seconds, text }) => {
    expect(formatDuration(seconds * 1_000)).toBe(text);
  });
});

describe("relative times", () => {
  const nowMs = 1_700_000_000_000;
  test.each([
    { seconds: 0, text: "now" },
    { seconds: -8, text: "8s ago" },
    { seconds: -120, text: "2m ago" },
    { seconds: 3_000, text: "in 50m" },
    { seconds: -90_000, text: "25h ago" },
    { seconds: -4 * 86_400, text: "4d ago" },
  ])("writes $seconds s as $text", ({ seconds, text }) => {
    expect(formatRelative(nowMs + seconds * 1_000, nowMs)).toBe(text);
  });
});

test.each([
  { microseconds: 312.4, text: "312 µs" },
  { microseconds: 1_240, text: "1.24 ms" },
  { microseconds: 45_600, text: "45.6 ms" },
  { microseconds: 812_000, text: "812 ms" },
])("writes a round trip of $microseconds µs as $text", ({ microseconds, text }) => {
  expect(formatRoundTrip(microseconds)).toBe(text);
});
