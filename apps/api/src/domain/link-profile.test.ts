import { CAPABILITY, isSameProfile } from "@weft/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { linkProfileOf, storedCapabilities } from "./link-profile.ts";

const { aes256Gcm, elision } = CAPABILITY;

test.each([
  { left: [], right: [], profile: undefined },
  { left: [aes256Gcm, elision], right: [], profile: undefined },
  { left: [aes256Gcm], right: [elision], profile: undefined },
  { left: ["something later"], right: ["something later"], profile: undefined },
  { left: [aes256Gcm], right: [aes256Gcm, elision], profile: { cipher: "aes-256-gcm", elision: "off" } },
  { left: [aes256Gcm, elision], right: [elision], profile: { cipher: "chacha20-poly1305", elision: "on" } },
  { left: ["lanes.8"], right: ["lanes.4"], profile: { cipher: "chacha20-poly1305", elision: "off", lanes: 4 } },
  { left: ["lanes.8", elision], right: [elision], profile: { elision: "on", lanes: 1 } },
  { left: ["lanes.8"], right: ["lanes.9", "lanes.1", "lanes.", "lanes.04", "lanes.1e1"], profile: undefined },
  { left: ["lanes.2", "lanes.8"], right: ["lanes.8"], profile: { lanes: 8 } },
  {
    left: [elision, aes256Gcm],
    right: [aes256Gcm, elision],
    profile: { cipher: "aes-256-gcm", elision: "on", lanes: 1 },
  },
])("$left and $right lead to $profile", ({ left, right, profile }) => {
  const chosen = linkProfileOf(left, right);
  if (profile) expect(chosen).toMatchObject(profile);
  else expect(chosen).toBeUndefined();
});

test("both maps name the same profile, whatever the nodes announce and in whatever order", () => {
  const capabilities = fc.array(fc.constantFrom(aes256Gcm, elision, "x", "lanes.2", "lanes.8"), { maxLength: 6 });
  fc.assert(
    fc.property(capabilities, capabilities, (left, right) => {
      const [here, there] = [linkProfileOf(left, right), linkProfileOf(right.toReversed(), left)];
      expect(isSameProfile(here ?? null, there ?? null)).toBe(true);
    }),
  );
});

test("capabilities are stored sorted and once", () => {
  expect(storedCapabilities(["b", "a", "b"])).toEqual(["a", "b"]);
});
