import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ipFrom, prefixOf, type Prefix } from "./addresses.ts";
import { decodeDeltaBody, decodeMapBody, encodeDeltaBody, encodeMapBody } from "./codec.ts";
import { addressSetDifference, filterAfter, setNumbersOf, toAddressSet } from "./filter-change.ts";
import type { AddressSet, FilterRule } from "./network-map.ts";
import { aNetworkMap } from "./testing/index.ts";

function host(number: number): Prefix {
  const prefix = prefixOf(ipFrom(4, 0x0a00_0000n + BigInt(number)), 32);
  if (!prefix.ok) throw new Error("a host is a prefix");
  return prefix.value;
}

function hosts(numbers: readonly number[]): AddressSet {
  return toAddressSet(numbers.map(host));
}

function aRule(id: number, sides: Partial<FilterRule>): FilterRule {
  return {
    id,
    action: "allow",
    direction: "in",
    protocol: null,
    source: null,
    destination: null,
    ports: null,
    ...sides,
  };
}

describe("changes of address sets", () => {
  const members = fc.uniqueArray(fc.nat(40), { maxLength: 20 });

  test("AP-27 a filter with changed sets is the filter that would have been sent whole", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(members, members), { minLength: 1, maxLength: 4 }), (pairs) => {
        const filterOf = (which: 0 | 1) =>
          pairs.flatMap((pair, at) => [
            aRule(at, { source: hosts(pair[which]), sourceSet: at + 1 }),
            aRule(100 + at, { destination: hosts(pair[which]), destinationSet: at + 1 }),
            aRule(200 + at, { source: hosts(pair[0]) }),
          ]);
        const filterSets = pairs.map((pair, at) => ({
          set: at + 1,
          ...addressSetDifference(hosts(pair[0]), hosts(pair[1])),
        }));

        expect(filterAfter(filterOf(0), { filterSets })).toEqual(filterOf(1));
      }),
    );
  });

  test("rules that share a set share the changed one, and what is not named stays as it is", () => {
    const [shared, other] = [hosts([1, 2]), hosts([7])];
    const before = [
      aRule(1, { source: shared, sourceSet: 5 }),
      aRule(2, { destination: shared, destinationSet: 5 }),
      aRule(3, { source: other, sourceSet: 6 }),
    ];

    const after = filterAfter(before, { filterSets: [{ set: 5, added: hosts([3]), removed: hosts([1]) }] });

    expect(after[0]?.source).toEqual(hosts([2, 3]));
    expect(after[1]?.destination).toBe(after[0]?.source);
    expect(after[2]).toBe(before[2]);
    expect([...setNumbersOf(before)]).toEqual([5, 6]);
  });

  test("a change survives the wire", () => {
    const filterSets = [
      { set: 0xffff_ffff, added: hosts([1, 2, 3]), removed: [] },
      { set: 1, added: [], removed: hosts([4]) },
    ];
    const delta = { upserts: [], removals: [], filterSets };

    expect(decodeDeltaBody(encodeDeltaBody(delta))).toEqual({ ok: true, value: delta });
  });

  test.each([
    ["beside a whole filter", { filter: [aRule(1, {})], filterSets: [] }],
    ["that name a set twice", { filterSets: [1, 1].map((set) => ({ set, added: [], removed: [] })) }],
    ["that name no set", { filterSets: [{ set: 0, added: [], removed: [] }] }],
  ])("changes %s are refused", (_what, part) => {
    const decoded = decodeDeltaBody(encodeDeltaBody({ upserts: [], removals: [], ...part }));

    expect(decoded).toMatchObject({ error: { code: "invalid_field", field: "filter_sets" } });
  });

  test("a newcomer in a group of a thousand costs less than 50 bytes", () => {
    const added = hosts([5_000]);

    expect(
      encodeDeltaBody({ upserts: [], removals: [], filterSets: [{ set: 9, added, removed: [] }] }).length,
    ).toBeLessThan(50);
  });
});

describe("numbered sets in a map", () => {
  test("sets of equal addresses stay apart when they have numbers, and a group may hold a whole large network", () => {
    const large = hosts(Array.from({ length: 20_000 }, (_, number) => number));
    const filter = [
      aRule(1, { source: large, sourceSet: 1 }),
      aRule(2, { source: [...large], sourceSet: 2 }),
      aRule(3, { source: large, sourceSet: 1, destination: hosts([1]) }),
    ];
    const map = { ...aNetworkMap(0), filter };

    const decoded = decodeMapBody(encodeMapBody(map));

    expect(decoded).toEqual({ ok: true, value: map });
    if (!decoded.ok) throw new Error("a good map");
    const [first, second, third] = decoded.value.filter;
    expect(first?.source).not.toBe(second?.source);
    expect(first?.source).toBe(third?.source);
  });
});
