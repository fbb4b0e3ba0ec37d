import type { PeerId } from "@weft/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChangesSince } from "../db/changes-repository.ts";
import type { Peer } from "../domain/peer.ts";
import type { PolicyRule } from "../domain/policy-rule.ts";
import { aMirror, aPeer, aRule, group, groupOf, idOf, NETWORK } from "../testing/a-mirror.ts";
import { createDesiredState } from "./desired-state.ts";
import type { NetworkMirror } from "./network-mirror.ts";

function changesOf(
  peers: readonly (readonly [PeerId, Peer | undefined])[],
  rules?: readonly PolicyRule[],
): ChangesSince {
  return {
    network: NETWORK,
    peers: new Map(peers),
    rules,
    names: undefined,
    networkChanged: false,
    at: new Date(0),
    isComplete: true,
  };
}

describe("work per change", () => {
  const GROUPS = 20;
  const RULES = 100;

  /** How often anything of the rules is read by `work`, in a network of so many peers. */
  function readsOfRules(peers: number, work: (mirror: NetworkMirror, members: readonly Peer[]) => void): number {
    let reads = 0;
    const rules = Array.from({ length: RULES }, (_, number) => {
      const rule = aRule(number, { source: group(number % GROUPS), destination: group((number * 7) % GROUPS) });
      return new Proxy(rule, {
        get(target, name): unknown {
          reads += 1;
          return Reflect.get(target, name);
        },
      });
    });
    const members = Array.from({ length: peers }, (_, number) => aPeer(number + 1, [number % GROUPS]));
    const mirror = aMirror(members, rules);
    // Whatever is asked for the first time may look at the rules.
    for (const peer of members) {
      mirror.filterOf(peer.id);
      for (const other of members.slice(0, 2 * GROUPS)) mirror.maySee(peer.id, other.id);
    }
    reads = 0;
    work(mirror, members);
    return reads;
  }

  test("SC-5 CP-40 rules are compiled once: no question about a pair reads them again, and no change that they do not name", () => {
    const asked = readsOfRules(300, (mirror, members) => {
      for (const left of members) for (const right of members) mirror.maySee(left.id, right.id);
    });
    const renamed = readsOfRules(300, (mirror, members) => {
      for (const peer of members) mirror.follow(changesOf([[peer.id, { ...peer, name: "other" }]]));
      for (const peer of members) mirror.filterOf(peer.id);
    });

    expect([asked, renamed]).toEqual([0, 0]);
  });

  test("SC-4 CP-41 a peer that comes costs as many looks at the rules among 2,000 peers as among 200", () => {
    const costAmong = (peers: number) =>
      readsOfRules(peers, (mirror) => {
        const newcomer = aPeer(peers + 1, [3]);
        mirror.follow(changesOf([[newcomer.id, newcomer]]));
        // Filters are made once per class of peers, however many peers there are in it.
        for (const id of mirror.peers().keys()) mirror.filterOf(id);
      });

    expect(costAmong(2_000)).toBe(costAmong(200));
    expect(costAmong(200)).toBeGreaterThan(0);
  });
});

describe("what a node was told", () => {
  const arbitraryStep = fc.oneof(
    fc.record({ kind: fc.constant("groups" as const), peer: fc.nat(9), groups: fc.subarray([0, 1, 2]) }),
    fc.record({ kind: fc.constant("remove" as const), peer: fc.nat(9) }),
    fc.record({ kind: fc.constant("state" as const), peer: fc.nat(9), state: fc.constantFrom("active", "expired") }),
    fc.record({
      kind: fc.constant("rules" as const),
      pairs: fc.array(fc.tuple(fc.nat(2), fc.nat(2)), { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("take" as const), node: fc.nat(2) }),
    fc.record({ kind: fc.constant("snapshot" as const), node: fc.nat(2) }),
  );

  test("AP-23 D1 removals are exactly those of what the stream was sent and the node may not see any more", () => {
    fc.assert(
      fc.property(fc.array(arbitraryStep, { minLength: 1, maxLength: 60 }), (steps) => {
        const members = Array.from({ length: 10 }, (_, number) => aPeer(number + 1, [number % 3]));
        const rules = [aRule(0, { source: group(0), destination: group(1) })];
        const mirror = aMirror(members, rules);
        const streams = [0, 1, 2].map((place) => {
          const node = idOf(place + 1);
          const desired = createDesiredState(mirror, node);
          desired.noteSentAll();
          return { node, desired, held: new Set(seenBy(mirror, node)) };
        });
        for (const step of steps) {
          if (step.kind === "take" || step.kind === "snapshot") {
            const stream = streams[step.node];
            if (!stream) throw new Error("three streams");
            if (step.kind === "snapshot") {
              stream.desired.noteSentAll();
              stream.held = new Set(seenBy(mirror, stream.node));
            } else takeInto(mirror, stream);
            continue;
          }
          mirror.follow(applied(mirror, step));
          for (const { desired } of streams) {
            if (step.kind === "rules") desired.noteRules();
            else if (step.kind === "groups" && idOf(step.peer + 1) === desiredNode(streams, desired))
              desired.noteMembership();
            else desired.notePeer(idOf(step.peer + 1));
          }
        }
        for (const stream of streams) {
          stream.desired.noteRules();
          takeInto(mirror, stream);
          expect([...stream.held].toSorted()).toEqual(seenBy(mirror, stream.node).toSorted());
        }
      }),
      { numRuns: 300 },
    );
  });

  type Stream = { readonly node: PeerId; readonly desired: ReturnType<typeof createDesiredState>; held: Set<PeerId> };

  function desiredNode(streams: readonly Stream[], desired: Stream["desired"]): PeerId | undefined {
    return streams.find((stream) => stream.desired === desired)?.node;
  }

  /** Takes what is pending and checks it against what the node really had. */
  function takeInto(mirror: NetworkMirror, { node, desired, held }: Stream): void {
    const delta = desired.takeDelta();
    if (!delta) return;
    for (const id of delta.removals) {
      expect(held.has(id)).toBe(true);
      expect(mirror.maySee(node, id)).toBe(false);
      held.delete(id);
    }
    for (const { id } of delta.upserts) {
      expect(mirror.maySee(node, id)).toBe(true);
      held.add(id);
    }
  }

  function seenBy(mirror: NetworkMirror, node: PeerId): PeerId[] {
    return [...mirror.peers().keys()].filter((id) => mirror.maySee(node, id));
  }

  type Step = Exclude<
    typeof arbitraryStep extends fc.Arbitrary<infer Of> ? Of : never,
    { readonly kind: "take" | "snapshot" }
  >;

  function applied(mirror: NetworkMirror, step: Step): ChangesSince {
    if (step.kind === "rules") {
      const rules = step.pairs.map(([from, to], number) =>
        aRule(number, { source: group(from), destination: group(to) }),
      );
      return changesOf([], rules);
    }
    const id = idOf(step.peer + 1);
    const before = mirror.peers().get(id) ?? aPeer(step.peer + 1, [step.peer % 3]);
    if (step.kind === "remove") return changesOf([[id, undefined]]);
    if (step.kind === "state") return changesOf([[id, { ...before, state: step.state }]]);
    return changesOf([[id, { ...before, groupIds: step.groups.map(groupOf).toSorted() }]]);
  }
});
