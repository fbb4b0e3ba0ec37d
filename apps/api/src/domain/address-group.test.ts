import { describe, expect, test } from "vitest";
import { addressGroup } from "./address-group.ts";
import { createLoginThrottle } from "./login-throttle.ts";

describe("address group", () => {
  test.each([
    { address: "2001:db8:0:1::1", group: "2001:db8:0:1::/64" },
    { address: "2001:db8:0:1:ffff:ffff:ffff:ffff", group: "2001:db8:0:1::/64" },
    { address: "2001:DB8::1:0:0:0:9", group: "2001:db8:0:1::/64" },
    { address: "2001:db8::9", group: "2001:db8:0:0::/64" },
    { address: "64:ff9b::192.0.2.1", group: "64:ff9b:0:0::/64" },
    { address: "::1", group: "0:0:0:0::/64" },
    { address: "fe80::1%eth0", group: "fe80:0:0:0::/64" },
    { address: "192.0.2.1", group: "192.0.2.1" },
    { address: "unix", group: "unix" },
  ])("$address counts as $group", ({ address, group }) => {
    expect(addressGroup(address)).toBe(group);
  });

  test("SEC-7 guesses from one IPv6 /64 on many accounts are slowed, another /64 is not", () => {
    const throttle = createLoginThrottle();

    const allowed = Array.from(
      { length: 60 },
      (_, place) => throttle.begin({ account: `user-${place}`, address: `2001:db8:0:1::${place}` }, 0).allowed,
    );

    expect(allowed.filter(Boolean)).toHaveLength(20);
    expect(throttle.begin({ account: "olga", address: "2001:db8:0:2::1" }, 0).allowed).toBe(true);
  });
});
