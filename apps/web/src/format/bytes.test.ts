import { expect, test } from "vitest";
import { formatBytes, formatCount } from "./bytes.ts";

test.each([
  { bytes: "0", text: "0 B" },
  { bytes: "1200000000", text: "1.20 GB" },
  { bytes: 71_000_000, text: "71.0 MB" },
  { bytes: "18446744073709551615", text: "18447 PB" },
])("writes $bytes bytes as $text", ({ bytes, text }) => {
  expect(formatBytes(bytes)).toBe(text);
});

test("counts keep every digit of a 64-bit counter", () => {
  expect(formatCount("18446744073709551615")).toBe("18,446,744,073,709,551,615");
});
