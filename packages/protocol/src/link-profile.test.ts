import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isSameProfile,
  laneCapability,
  lanesAnnounced,
  type LinkProfile,
  linkProfileFromBytes,
  linkProfileToBytes,
} from "./link-profile.ts";

const FAST: LinkProfile = { revision: 0x01020304, cipher: "aes-256-gcm", elision: "on", lanes: 4 };

test("a profile has one form in bytes", () => {
  expect([...linkProfileToBytes(FAST)]).toEqual([1, 1, 1, 4, 1, 2, 3, 4]);
  expect(linkProfileFromBytes(linkProfileToBytes(FAST))).toEqual({ ok: true, value: FAST });
});

test.each([
  { name: "another length", bytes: [1, 1, 1, 4, 1, 2, 3] },
  { name: "a later form", bytes: [2, 1, 1, 4, 1, 2, 3, 4] },
  { name: "a cipher nobody knows", bytes: [1, 2, 1, 4, 1, 2, 3, 4] },
  { name: "a flag nobody knows", bytes: [1, 1, 2, 4, 1, 2, 3, 4] },
  { name: "no lane", bytes: [1, 1, 1, 0, 1, 2, 3, 4] },
  { name: "too many lanes", bytes: [1, 1, 1, 65, 1, 2, 3, 4] },
])("bytes with $name are refused", ({ bytes }) => {
  expect(linkProfileFromBytes(Uint8Array.from(bytes))).toMatchObject({ ok: false, error: { code: "bad_profile" } });
});

test("any bytes are refused or are the form of exactly one profile", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), fc.constantFrom(0, 1), (bytes, known) => {
      if (known === 1) bytes.set([1, (bytes[1] ?? 0) % 2, (bytes[2] ?? 0) % 2, 1 + ((bytes[3] ?? 0) % 64)]);
      const read = linkProfileFromBytes(bytes);
      if (read.ok) expect(linkProfileToBytes(read.value)).toEqual(bytes);
      else expect(known).toBe(0);
    }),
  );
});

test("lanes are announced by one word, and words that nobody writes count for nothing", () => {
  for (const lanes of [2, 5, 8]) expect(lanesAnnounced(["x", laneCapability(lanes)])).toBe(lanes);
  for (const word of ["lanes.0", "lanes.1", "lanes.9", "lanes.64", "lanes.-2", "lanes", "lanes.NaN", "lanes.2 "]) {
    expect(lanesAnnounced([word])).toBe(1);
  }
  expect(lanesAnnounced([])).toBe(1);
});

test("two profiles are the same only if everything is", () => {
  expect(isSameProfile(FAST, { ...FAST })).toBe(true);
  expect(isSameProfile(null, null)).toBe(true);
  for (const other of [null, { ...FAST, revision: 1 }, { ...FAST, lanes: 1 }, { ...FAST, elision: "off" } as const]) {
    expect(isSameProfile(FAST, other)).toBe(false);
  }
});
