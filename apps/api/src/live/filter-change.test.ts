import { filterAfter } from "@weft/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aPeer, aRule, group, groupOf } from "../testing/a-mirror.ts";
import { compilePolicy, createFilters } from "../domain/access-policy.ts";
import { filterChange } from "../domain/filter-change.ts";
import type { Peer } from "../domain/peer.ts";

const RULES = [
  aRule(0, { source: group(0), destination: group(1) }),
  aRule(1, { source: group(1), destination: group(1) }),
  aRule(2, { source: group(2), destination: { kind: "all" } }),
];

/** Filters of a network whose peers change one after the other, and of one that is made anew with the last of them. */
function follow(steps: readonly (readonly [peer: number, groups: readonly number[], state: "active" | "expired"])[]) {
  const policy = compilePolicy(RULES);
  const members = new Map(Array.from({ length: 6 }, (_, at) => [at, aPeer(at + 1, [at % 3])] as const));
  const filters = createFilters(policy, () => members.values());
  const viewer = aPeer(100, [0, 1, 2]);
  const first = filters.of(viewer);
  for (const [at, groups, state] of steps) {
    const before = members.get(at);
    const after: Peer = { ...aPeer(at + 1, []), groupIds: groups.map(groupOf).toSorted(), state };
    members.set(at, after);
    filters.note(before, after);
  }
  return { first, last: filters.of(viewer), anew: createFilters(policy, () => members.values()).of(viewer) };
}

describe("filters of a network that changes", () => {
  const step = fc.tuple(fc.nat(9), fc.subarray([0, 1, 2]), fc.constantFrom("active" as const, "expired" as const));

  test("AP-27 a filter that was kept up peer by peer is the one that is made anew, and its change leads there", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { first, last, anew } = follow(steps);
        const filterSets = filterChange(first, last);

        expect(last).toEqual(anew);
        expect(filterAfter(first, filterSets ? { filterSets } : { filter: last })).toEqual(anew);
      }),
    );
  });

  test("a newcomer is all that a change says, and other rules are said whole", () => {
    const { first, last } = follow([[7, [1], "active"]]);
    const [change, ...more] = filterChange(first, last) ?? [];
    const other = createFilters(compilePolicy(RULES.slice(1)), () => [aPeer(1, [1])]).of(aPeer(100, [0, 1, 2]));

    expect(more).toEqual([]);
    expect(change).toMatchObject({ added: ["10.64.0.8/32", "fd00::8/128"], removed: [] });
    expect(filterChange(first, other)).toBeUndefined();
  });

  test("a router that shares its range with another one leaves the range behind", () => {
    const range = { routes: ["192.168.7.0/24" as never] };
    const routers = [1, 2].map((number) => ({ ...aPeer(number, [1]), ...range }));
    const filters = createFilters(compilePolicy(RULES), () => routers);
    const before = filters.of(aPeer(100, [1]));

    filters.note(routers[0], undefined);
    const after = filters.of(aPeer(100, [1]));

    expect(filterChange(before, after)).toMatchObject([{ added: [], removed: ["10.64.0.1/32", "fd00::1/128"] }]);
  });
});
