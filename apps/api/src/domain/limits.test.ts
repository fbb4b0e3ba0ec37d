import { parsePrefix } from "@weft/protocol";
import type { Prefix } from "@weft/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressesAt, poolOf } from "./address-pool.ts";
import { createBitSet } from "./bit-set.ts";
import { createCoalescer, WINDOW_MS } from "./coalescer.ts";
import { createFlapDamping } from "./flap-damping.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import { nameCandidates } from "./peer-names.ts";
import { createTokenBuckets } from "./token-bucket.ts";

describe("address pool", () => {
  test("a peer has the same place in both ranges, and the smaller range is the limit", () => {
    const ranges = { ipv4Range: prefix("10.0.0.0/30"), ipv6Range: prefix("fd00::/64") };

    expect(poolOf(ranges)).toEqual({ first: 1n, last: 2n, capacity: 2n });
    expect(addressesAt(ranges, 2n)).toEqual({ ipv4: "10.0.0.2", ipv6: "fd00::2" });
  });
});

describe("names", () => {
  test.each([
    { hostname: "web", names: ["web", "web-2", "web-3"] },
    { hostname: "localhost", names: ["localhost-2", "localhost-3", "localhost-4"] },
    { hostname: "Ünïcode!.example", names: ["unicode", "unicode-2", "unicode-3"] },
    { hostname: "☃", names: ["node", "node-2", "node-3"] },
    { hostname: "a".repeat(80), names: ["a".repeat(63), `${"a".repeat(61)}-2`, `${"a".repeat(61)}-3`] },
  ])("candidates for $hostname are labels", ({ hostname, names }) => {
    const candidates = nameCandidates(hostname);

    expect(names.map(() => candidates.next().value)).toEqual(names);
  });
});

describe("hostile names", () => {
  test("SEC-62 whatever a node calls itself becomes a host label: short, of letters, digits and inner dashes, never reserved", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string()), fc.nat(20), (hostname, skip) => {
        const candidates = nameCandidates(hostname);
        for (let place = 0; place < skip; place += 1) candidates.next();
        const name = String(candidates.next().value);
        expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
        expect(name).not.toBe("localhost");
      }),
      { examples: ["localhost", "--config=/etc/shadow", "$(reboot)", "a\n[Peer]", "..", ""].map((one) => [one, 0]) },
    );
  });
});

describe("token buckets", () => {
  test("API-44 a burst passes, then the rate, and the wait is told", () => {
    const buckets = createTokenBuckets({ perSecond: 2, burst: 3 });

    const burst = [0, 0, 0, 0].map((nowMs) => buckets.take("a", nowMs).ok);
    const refused = buckets.take("a", 0);

    expect(burst).toEqual([true, true, true, false]);
    expect(refused).toEqual({ ok: false, retryAfterSeconds: 1 });
    expect(buckets.take("b", 0).ok).toBe(true);
    expect(buckets.take("a", 500).ok).toBe(true);
    expect(buckets.take("a", 500).ok).toBe(false);
  });
});

describe("login throttle", () => {
  test("SEC-7 one account from many addresses and one address on many accounts are both slowed", () => {
    const byAccount = createLoginThrottle();
    const byAddress = createLoginThrottle();

    const account = Array.from(
      { length: 30 },
      (_, place) => byAccount.begin({ account: "olga", address: `10.0.0.${place}` }, 0).allowed,
    );
    const address = Array.from(
      { length: 60 },
      (_, place) => byAddress.begin({ account: `user-${place}`, address: "10.0.0.1" }, 0).allowed,
    );

    expect(account.filter(Boolean)).toHaveLength(5);
    expect(address.filter(Boolean)).toHaveLength(20);
  });
});

describe("flap damping", () => {
  test("SEC-8 AP-45 a flapping node is slowed step by step and free again within a minute", () => {
    const damping = createFlapDamping();
    const waits = Array.from({ length: 20 }, (_, place) => damping.connect("n", place * 100)).flatMap((verdict) =>
      verdict.ok ? [] : [verdict.retryAfterMs],
    );

    expect(waits.length).toBeGreaterThan(3);
    expect(waits.toSorted((left, right) => left - right)).toEqual(waits);
    expect(waits.at(-1)).toBeLessThanOrEqual(30_000);
    expect(damping.connect("n", 2_000 + 60_000).ok).toBe(true);
    expect(damping.connect("other", 0).ok).toBe(true);
  });
});

describe("coalescer", () => {
  test("AP-25 the first change goes at once, later ones together, none waits longer than the window", () => {
    const coalescer = createCoalescer();

    expect(coalescer.noteChange(1_000)).toBe(1_000);
    coalescer.noteSent(1_000);
    expect(coalescer.noteChange(1_010)).toBe(1_000 + WINDOW_MS);
    expect(coalescer.noteChange(1_190)).toBe(1_000 + WINDOW_MS);
    expect(coalescer.noteChange(2_000)).toBe(2_000);
  });

  test("AP-25 a wall clock that is set back by an hour holds no change for longer than the window", () => {
    const coalescer = createCoalescer();
    coalescer.noteSent(3_600_000);

    expect(coalescer.noteChange(1_000)).toBe(1_000 + WINDOW_MS);
  });
});

test("a bit set holds what was added, beyond its first size too", () => {
  const set = createBitSet();
  for (const index of [0, 31, 32, 5_000]) set.add(index);
  set.remove(31);

  expect([0, 31, 32, 33, 5_000, 90_000].map((index) => set.has(index))).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
  ]);
});

function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}
