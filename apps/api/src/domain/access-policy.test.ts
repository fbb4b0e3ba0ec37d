import { groupIds, hostPrefix, parseIpv4, peerIds, prefixContains, ruleIds } from "@weft/protocol";
import type { FilterRule, GroupId, Ipv4Address, PeerId } from "@weft/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePolicy, createFilters, decidingRule, maySee, openingRules } from "./access-policy.ts";
import { filterKey } from "./filter-key.ts";
import type { AccessPolicy, FirstPacket } from "./access-policy.ts";
import { affectedByPeer } from "./affected-nodes.ts";
import type { Peer } from "./peer.ts";
import { DIFFERENCE_WORK_MAX, policyDifference } from "./policy-difference.ts";
import { ALL } from "./policy-rule.ts";
import type { PolicyRule, Selector } from "./policy-rule.ts";

const random = (fill: number) => (count: number) => new Uint8Array(count).fill(fill);
const [red, blue, green]: [GroupId, GroupId, GroupId] = [
  groupIds.make(random(21)),
  groupIds.make(random(22)),
  groupIds.make(random(23)),
];

function aRule(change: Partial<PolicyRule> = {}): PolicyRule {
  const nothing = { protocol: null, ports: null, icmpType: null, icmpCode: null };
  const between = { source: ALL, destination: ALL, direction: "both-ways" } as const;
  return { id: ruleIds.make(random(3)), action: "allow", state: "on", ...between, ...nothing, ...change };
}

function aPeer(number: number, groups: readonly GroupId[] = [], change: Partial<Peer> = {}): Peer {
  const peer: Partial<Peer> = {
    id: peerIds.make(random(number)),
    groupIds: groups,
    ipv4: address(number),
    ipv6: null,
    routes: [],
    serves: [],
    exitChoice: null,
  };
  return { ...peer, state: "active", ...change } as Peer;
}

function address(number: number): Ipv4Address {
  const parsed = parseIpv4(`100.64.0.${number}`);
  if (!parsed.ok) throw new Error("a test address is wrong");
  return parsed.value;
}

const [here, there] = [aPeer(1), aPeer(2)];
const group = (id: GroupId): Selector => ({ kind: "group", id });

describe("rules between all", () => {
  test("AP-28 no rule, rules that are off and rules that deny show nobody and allow nothing", () => {
    for (const rules of [[], [aRule({ state: "off" })], [aRule({ action: "deny" })]]) {
      const policy = compilePolicy(rules);
      expect(maySee(policy, here, there)).toBe(false);
      expect(
        filtersOf(policy, [here, there])
          .of(here)
          .some(({ action }) => action === "allow"),
      ).toBe(false);
    }
  });

  test("a rule for one port lets members see each other, but never themselves", () => {
    const policy = compilePolicy([aRule({ protocol: "tcp", ports: [{ low: 443, high: 443 }] })]);
    expect(maySee(policy, here, there)).toBe(true);
    expect(maySee(policy, here, here)).toBe(false);
  });

  test("what stands behind a rule that denies everything shows nobody", () => {
    const policy = compilePolicy([aRule({ action: "deny" }), aRule()]);
    expect(maySee(policy, here, there)).toBe(false);
  });

  test("a rule keeps its number when others come and go", () => {
    const [first, second] = [aRule({ id: ruleIds.make(random(4)) }), aRule({ id: ruleIds.make(random(5)) })];
    const numberIn = (rules: readonly PolicyRule[]) => filtersOf(compilePolicy(rules), [here]).of(here).at(-1)?.id;
    expect(numberIn([first, second])).toBe(numberIn([second]));
    expect(numberIn([first])).not.toBe(numberIn([second]));
  });
});

describe("rules by group and peer", () => {
  test("F-B1 AP-28 a group nobody belongs to allows nothing", () => {
    const policy = compilePolicy([aRule({ source: group(red), destination: group(blue) })]);
    expect(maySee(policy, here, there)).toBe(false);
    expect(filtersOf(policy, [here, there]).of(here)).toEqual([]);
  });

  test("F-B2 CP-8 a one-way rule lets the source begin, shows both to each other, and lets nobody else in", () => {
    const [from, to, other] = [aPeer(1, [red]), aPeer(2, [blue]), aPeer(3, [green])];
    const policy = compilePolicy([aRule({ source: group(red), destination: group(blue), direction: "one-way" })]);
    const filters = filtersOf(policy, [from, to, other]);

    expect(maySee(policy, from, to) && maySee(policy, to, from)).toBe(true);
    expect(maySee(policy, from, other) || maySee(policy, other, to)).toBe(false);
    expect(filters.of(from)).toMatchObject([{ direction: "out", source: null, destination: [hostPrefix(address(2))] }]);
    expect(filters.of(to)).toMatchObject([{ direction: "in", source: [hostPrefix(address(1))], destination: null }]);
    expect(filters.of(other)).toEqual([]);
  });

  test("a rule inside one group says each thing once", () => {
    const policy = compilePolicy([aRule({ source: group(red), destination: group(red) })]);
    const filter = filtersOf(policy, [aPeer(1, [red]), aPeer(2, [red])]).of(aPeer(1, [red]));
    expect(filter.map(({ direction }) => direction)).toEqual(["in", "out"]);
  });

  test("F-A7 peers that are not active stand in no address set", () => {
    const policy = compilePolicy([aRule({ source: group(red), destination: group(blue), direction: "one-way" })]);
    const filters = filtersOf(policy, [aPeer(1, [red], { state: "pending" }), aPeer(2, [blue])]);
    expect(filters.of(aPeer(2, [blue]))).toMatchObject([{ source: [] }]);
  });

  test("F-B7 the rules that open a way are told up to the one that denies everything", () => {
    const rules = [
      aRule({ id: ruleIds.make(random(31)), protocol: "tcp", source: group(red), destination: group(blue) }),
      aRule({ id: ruleIds.make(random(32)), action: "deny", source: group(red), destination: ALL }),
      aRule({ id: ruleIds.make(random(33)) }),
    ];
    const policy = compilePolicy(rules);
    const [from, to] = [policy.classOf(aPeer(1, [red])), policy.classOf(aPeer(2, [blue]))];
    expect(openingRules(policy, from, to).map(({ id }) => id)).toEqual([rules[0]?.id]);
  });
});

test("CP-8 F-B4 for any rules, what both ends' packet rules let through is what the policy says, both ways", () => {
  const peers = [aPeer(1, [red]), aPeer(2, [blue]), aPeer(3, [red, green].toSorted()), aPeer(4), aPeer(5, [green])];
  fc.assert(
    fc.property(fc.array(ruleArbitrary(peers), { maxLength: 6 }), (rules) => {
      const policy = compilePolicy(rules);
      const filters = filtersOf(policy, peers);
      for (const from of peers) {
        for (const to of peers) {
          if (from === to) continue;
          const expected = PACKETS.map((packet) => verdict(policy, [from, to], packet));
          const actual = PACKETS.map((packet) => {
            const leaves = passes(filters.of(from), { direction: "out", peers: [from, to], packet });
            return leaves && passes(filters.of(to), { direction: "in", peers: [from, to], packet });
          });
          expect(actual).toEqual(expected);
          if (expected.includes(true)) expect(maySee(policy, from, to) && maySee(policy, to, from)).toBe(true);
        }
      }
    }),
  );
});

test("CP-3 CP-7 after any change of a peer, who is not affected has the filter of a fresh computation", () => {
  const peers = [aPeer(1, [red]), aPeer(2, [blue]), aPeer(3, [green]), aPeer(4)];
  const change = fc.record({ at: fc.nat(3), groups: fc.subarray([red, blue, green]), isActive: fc.boolean() });
  fc.assert(
    fc.property(fc.array(ruleArbitrary(peers), { maxLength: 5 }), change, (rules, { at, groups, isActive }) => {
      const members = [...peers];
      const policy = compilePolicy(rules);
      const filters = createFilters(policy, () => members);
      const told = new Map(members.map((peer) => [peer.id, filters.of(peer)]));
      const before = members[at] ?? here;
      const after: Peer = { ...before, groupIds: groups, state: isActive ? "active" : "disabled" };
      members[at] = after;
      const touched = filters.note(before, after);
      const moved = { id: before.id, before, after, content: "other" } as const;
      for (const { id, effect } of affectedByPeer(
        { policy, filters, clientsOf: () => [] },
        { change: moved, touched },
        members,
      )) {
        const peer = members.find((one) => one.id === id);
        if (peer && (effect !== "peer" || id === before.id)) told.set(id, filters.of(peer));
      }
      const fresh = filtersOf(compilePolicy(rules), members);
      for (const peer of members) expect(told.get(peer.id)).toEqual(fresh.of(peer));
    }),
  );
});

const PACKETS: readonly FirstPacket[] = [
  { protocol: "tcp", port: 80 },
  { protocol: "tcp", port: 443 },
  { protocol: "udp", port: 443 },
  { protocol: null, port: null },
];

function ruleArbitrary(peers: readonly Peer[]): fc.Arbitrary<PolicyRule> {
  const side: fc.Arbitrary<Selector> = fc.oneof(
    fc.constant(ALL),
    fc.constantFrom(red, blue, green).map(group),
    fc.constantFrom(...peers.map(({ id }) => id)).map((id: PeerId) => ({ kind: "peer", id }) as const),
  );
  return fc
    .record({
      id: fc.integer({ min: 100, max: 200 }).map((fill) => ruleIds.make(random(fill))),
      action: fc.constantFrom("allow", "deny"),
      state: fc.constantFrom("on", "on", "off"),
      source: side,
      destination: side,
      direction: fc.constantFrom("one-way", "both-ways"),
      match: fc.constantFrom(
        { protocol: null, ports: null },
        { protocol: "tcp", ports: null } as const,
        {
          protocol: "tcp",
          ports: [{ low: 443, high: 500 }],
        } as const,
      ),
    })
    .map(({ match, ...rule }) => aRule({ ...rule, ...match }));
}

function filtersOf(policy: AccessPolicy, members: readonly Peer[]) {
  return createFilters(policy, () => members);
}

function verdict(policy: AccessPolicy, [from, to]: readonly [Peer, Peer], packet: FirstPacket): boolean {
  return decidingRule(policy, policy.classOf(from), { to: policy.classOf(to), packet })?.action === "allow";
}

/** The first packet rule that matches decides, as the engine does it. */
function passes(
  filter: readonly FilterRule[],
  seen: { readonly direction: "in" | "out"; readonly peers: readonly [Peer, Peer]; readonly packet: FirstPacket },
): boolean {
  const [from, to] = seen.peers;
  const isIn = (set: FilterRule["source"], peer: Peer) =>
    set === null || set.some((prefix) => peer.ipv4 !== null && prefixContains(prefix, peer.ipv4));
  const numbers: Readonly<Record<string, number>> = { tcp: 6, udp: 17 };
  const found = filter.find(
    (rule) =>
      (rule.direction === "both" || rule.direction === seen.direction) &&
      isIn(rule.source, from) &&
      isIn(rule.destination, to) &&
      (rule.protocol === null || rule.protocol === numbers[seen.packet.protocol ?? ""]) &&
      (rule.ports === null ||
        rule.ports.some(({ low, high }) => low <= (seen.packet.port ?? -1) && (seen.packet.port ?? -1) <= high)),
  );
  return found?.action === "allow";
}

test("API-45 others get their turn while policies that tell many peers apart are compared", async () => {
  const members = Array.from({ length: 30 }, (_, place) => aPeer(place + 1));
  const rules = members.map(({ id }, place) =>
    aRule({ id: ruleIds.make(random(place + 1)), source: { kind: "peer", id } }),
  );
  let turns = 0;
  const pause = async () => void (turns += 1);

  const difference = await policyDifference([], rules, { members, pause });

  expect(difference).toMatchObject({ ok: true, value: { gained: { total: 30 * 29 } } });
  expect(turns).toBeGreaterThanOrEqual(30);
});

test("policies that tell too many peers apart are not compared, and the bound is named", async () => {
  const members = Array.from({ length: 250 }, (_, place) => aPeer(place + 1));
  const rules = members.flatMap(({ id }) =>
    ([null, "tcp", "udp", "sctp"] as const).map((protocol) => aRule({ protocol, source: { kind: "peer", id } })),
  );
  let turns = 0;
  const pause = async () => void (turns += 1);

  const difference = await policyDifference([], rules, { members, pause });

  expect(difference).toEqual({ ok: false, error: { wanted: 250 ** 2 * 1_000, limit: DIFFERENCE_WORK_MAX } });
  expect(turns).toBe(0);
});

test("filters share a key exactly when they say the same, also when one set differs in one address", () => {
  const members = Array.from({ length: 50 }, (_, place) => aPeer(place + 1, [red]));
  const policy = compilePolicy([aRule({ source: group(red) })]);
  const keyOf = (peers: readonly Peer[]) => filterKey(createFilters(policy, () => peers).of(aPeer(1, [red])));

  expect(keyOf(members)).toBe(keyOf([...members]));
  expect(keyOf(members)).not.toBe(keyOf(members.slice(0, -1)));
  expect(keyOf(members)).not.toBe(keyOf(members.with(49, aPeer(99, [red]))));
});
