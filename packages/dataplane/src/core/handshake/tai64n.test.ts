import fc from "fast-check";
import { expect, test } from "vitest";
import { compareBytes } from "./bytes.ts";
import { tai64n } from "./tai64n.ts";

test("writes seconds since 1970 behind the TAI64 label and nanoseconds cut to whole steps", () => {
  const stamp = Buffer.from(tai64n(1_700_000_000_500, null)).toString("hex");

  expect(stamp).toBe(`40000000${(1_700_000_000 + 10).toString(16)}${(29 * 2 ** 24).toString(16)}`);
});

test("is always greater than the one before, whatever the clock does, and always a valid count of nanoseconds", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4_000_000_000_000 }), { minLength: 2 }), (times) => {
      let previous: Uint8Array | null = null;
      for (const time of times) {
        const stamp: Uint8Array = tai64n(time, previous);
        if (previous) expect(compareBytes(stamp, previous)).toBeGreaterThan(0);
        expect(Buffer.from(stamp).readUInt32BE(8)).toBeLessThan(1_000_000_000);
        previous = stamp;
      }
    }),
  );
});

test("moves on by one step when asked 200 times in one millisecond", () => {
  let stamp = tai64n(1_000, null);
  for (let round = 0; round < 200; round += 1) stamp = tai64n(1_000, stamp);

  expect(Buffer.from(stamp).readBigUInt64BE(0) - 2n ** 62n - 10n).toBe(4n);
});
