import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  endpointParts,
  hostPrefix,
  ipFrom,
  ipFromBytes,
  ipToBytes,
  ipToNumber,
  parseEndpoint,
  parseIp,
  parseIpv4,
  parseIpv6,
  parsePrefix,
  prefixFrom,
  prefixParts,
} from "./addresses.ts";
import {
  addressAt,
  comparePrefixes,
  hostOffsets,
  offsetOf,
  prefixContains,
  prefixesOverlap,
  prefixSize,
  subPrefix,
} from "./prefix-math.ts";
import { aPrefix, mustBe } from "./testing/index.ts";

const ipv4Number = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
const ipv6Number = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  // Sparse addresses have the runs of zeros that the canonical form is about.
  fc
    .array(fc.constantFrom(0n, 0n, 0n, 1n, 0xffffn), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.reduce<bigint>((sum, group) => (sum << 16n) | group, 0n)),
);

describe("addresses", () => {
  test.each([
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["fe80:0:0:0:0:0:0:0", "fe80::"],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
    ["::ffff:a00:1", "::ffff:10.0.0.1"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
    ["1::2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
  ])("reads %s as %s", (text, canonical) => {
    expect(parseIp(text)).toEqual({ ok: true, value: canonical });
  });

  test.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "256.0.0.1",
    "1.2.3.4 ",
    "1.2.3.-4",
    ":",
    ":::",
    "1::2::3",
    "12345::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
    "fe80::1%eth0",
    "1.2.3.4::",
    "::1.2.3",
    "g::",
    "0x1.2.3.4",
    "١.٢.٣.٤",
  ])("refuses %j", (text) => {
    expect(parseIp(text).ok).toBe(false);
  });

  test("a number survives the way through its text", () => {
    fc.assert(fc.property(ipv4Number, (value) => ipToNumber(mustBe(parseIp(ipFrom(4, value)))) === value));
    fc.assert(fc.property(ipv6Number, (value) => ipToNumber(mustBe(parseIp(ipFrom(6, value)))) === value));
  });

  test("canonical text is a fixed point", () => {
    fc.assert(fc.property(ipv6Number, (value) => mustBe(parseIp(ipFrom(6, value))) === ipFrom(6, value)));
  });

  test("arbitrary text never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseIp(text);
        parsePrefix(text);
        parseEndpoint(text);
      }),
    );
  });

  test("bytes are in network order and survive both ways", () => {
    expect([...ipToBytes(mustBe(parseIp("1.2.3.4")))]).toEqual([1, 2, 3, 4]);
    fc.assert(
      fc.property(ipv6Number, (value) => mustBe(ipFromBytes(ipToBytes(ipFrom(6, value)))) === ipFrom(6, value)),
    );
    expect(ipFromBytes(new Uint8Array(5)).ok).toBe(false);
  });

  test("the family parsers refuse the other family", () => {
    expect(parseIpv4("::1").ok).toBe(false);
    expect(parseIpv6("1.2.3.4").ok).toBe(false);
  });
});

describe("endpoints", () => {
  test.each([
    ["1.2.3.4:51820", "1.2.3.4:51820"],
    ["[2001:DB8::1]:1", "[2001:db8::1]:1"],
  ])("B-27 reads %s", (text, canonical) => {
    const endpoint = mustBe(parseEndpoint(text));

    expect(endpoint).toBe(canonical);
    expect(endpointParts(endpoint).port).toBe(Number(text.split(":").at(-1)));
  });

  test.each([
    "1.2.3.4",
    "1.2.3.4:0",
    "1.2.3.4:65536",
    "1.2.3.4:01",
    "::1:5",
    "2001:db8::1:51820",
    "[1.2.3.4]:5",
    "host:5",
    "[::1]",
    "[::1]:",
    ":5",
    "[::1%lo]:5",
  ])("B-27 refuses %j", (text) => {
    expect(parseEndpoint(text).ok).toBe(false);
  });
});

describe("prefixes", () => {
  test.each([
    "10.0.0.1/24",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/08",
    "fd00::1/64",
    "10.0.0.0/-1",
  ])("refuses %j", (text) => {
    expect(parsePrefix(text).ok).toBe(false);
  });

  test("contains and overlaps follow the ranges", () => {
    const wide = aPrefix("10.0.0.0/8");
    const narrow = aPrefix("10.9.0.0/16");

    expect(prefixContains(wide, narrow)).toBe(true);
    expect(prefixContains(narrow, wide)).toBe(false);
    expect(prefixesOverlap(narrow, wide)).toBe(true);
    expect(prefixesOverlap(wide, aPrefix("11.0.0.0/8"))).toBe(false);
    expect(prefixContains(aPrefix("0.0.0.0/0"), aPrefix("::/0"))).toBe(false);
    expect(prefixContains(wide, mustBe(parseIp("10.255.255.255")))).toBe(true);
    expect(prefixContains(wide, mustBe(parseIp("11.0.0.0")))).toBe(false);
  });

  test("places and addresses are inverse inside a prefix", () => {
    const prefix = aPrefix("10.1.2.0/23");

    expect(prefixSize(prefix)).toBe(512n);
    expect(addressAt(prefix, 300n)).toBe("10.1.3.44");
    expect(offsetOf(prefix, mustBe(parseIp("10.1.3.44")))).toBe(300n);
    expect(addressAt(prefix, 512n)).toBeNull();
    expect(addressAt(prefix, -1n)).toBeNull();
    expect(offsetOf(prefix, mustBe(parseIp("10.1.4.0")))).toBeNull();
  });

  test.each([
    { prefix: "10.0.0.0/24", first: 1n, last: 254n },
    { prefix: "10.0.0.0/31", first: 0n, last: 1n },
    { prefix: "10.0.0.0/32", first: 0n, last: 0n },
    { prefix: "fd00::/64", first: 1n, last: 2n ** 64n - 1n },
    { prefix: "fd00::/128", first: 0n, last: 0n },
  ])("hosts of $prefix are $first to $last", ({ prefix, first, last }) => {
    expect(hostOffsets(aPrefix(prefix))).toEqual({ first, last });
  });

  test("cuts equal parts", () => {
    expect(subPrefix(aPrefix("fd00::/48"), 64, 5n)).toBe("fd00:0:0:5::/64");
    expect(subPrefix(aPrefix("fd00::/48"), 64, 65_536n)).toBeNull();
    expect(subPrefix(aPrefix("10.0.0.0/16"), 8, 0n)).toBeNull();
  });

  test("orders by family, number, width", () => {
    const ordered = ["10.0.0.0/8", "10.0.0.0/16", "10.1.0.0/16", "::/0"].map((text) => aPrefix(text));

    expect(ordered.toReversed().sort(comparePrefixes)).toEqual(ordered);
  });

  test("parts and number make the same prefix", () => {
    fc.assert(
      fc.property(ipv6Number, fc.integer({ min: 0, max: 128 }), (value, length) => {
        const cleared = (value >> BigInt(128 - length)) << BigInt(128 - length);
        const prefix = mustBe(prefixFrom(6, cleared, length));
        expect(mustBe(parsePrefix(prefix))).toBe(prefix);
        expect(prefixParts(prefix)).toMatchObject({ family: 6, value: cleared, length });
      }),
    );
    expect(hostPrefix(mustBe(parseIp("10.0.0.1")))).toBe("10.0.0.1/32");
  });
});
