import type { LinkProfile, ProfileFallback } from "@weft/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { VirtualWorld } from "./in-memory-tunnel.ts";
import { eventKinds, type Host, makeHost, makeWorld } from "./test-hosts.ts";
import type { Datagram } from "./virtual-network.ts";

const FAST: LinkProfile = { revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 };
const SLOW: LinkProfile = { revision: 2, cipher: "chacha20-poly1305", elision: "on", lanes: 1 };

describe("a pair with a link profile", () => {
  test("makes its session under the profile and tells so", () => {
    const { world, alice, bob } = makePair(FAST, FAST);

    alice.say(bob, "hello");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["hello"]);
    for (const host of [alice, bob]) {
      expect(profileOf(host)).toEqual({ state: "active", wanted: FAST, used: FAST });
    }
  });

  test("without one is plain WireGuard, whatever the policy", () => {
    const { world, alice, bob } = makePair(null, null, "plain");

    alice.say(bob, "hello");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["hello"]);
    expect(profileOf(alice)).toEqual({ state: "plain", wanted: null, used: null });
  });

  test.each([
    { name: "one knows of no profile", theirs: null },
    { name: "the profiles differ", theirs: SLOW },
    { name: "only the revisions differ", theirs: { ...FAST, revision: 9 } },
    { name: "only the lanes differ", theirs: { ...FAST, lanes: 8 } },
  ])("carries nothing while $name, when plain WireGuard is refused", ({ theirs }) => {
    const { world, alice, bob } = makePair(FAST, theirs);

    alice.say(bob, "from alice");
    bob.say(alice, "from bob");
    world.time.advance(200_000);

    expect([...alice.heard(), ...bob.heard()]).toEqual([]);
    expect(profileOf(alice)).toMatchObject({ state: "pending", used: null });
    expect(alice.tunnel.peers()[0]?.session.state).not.toBe("up");
    expect(bob.tunnel.counters().handshakes.droppedBadTag).toBeGreaterThan(0);
  });

  test("reaches a peer that knows of no profile after three attempts, when the policy allows it, and says so", () => {
    const { world, alice, bob } = makePair(FAST, null, "plain");

    alice.say(bob, "hello");
    world.time.advance(14_000);
    expect(bob.heard()).toEqual([]);
    world.time.advance(10_000);

    expect(bob.heard()).toEqual(["hello"]);
    expect(profileOf(alice)).toEqual({ state: "fallback", wanted: FAST, used: null });
    expect(profileOf(bob)).toEqual({ state: "plain", wanted: null, used: null });
  });

  test("is called in plain WireGuard by a peer without the profile, when the policy allows it", () => {
    const { world, alice, bob } = makePair(FAST, null, "plain");

    bob.say(alice, "hello");
    world.time.advance(1_000);

    expect(alice.heard()).toEqual(["hello"]);
    expect(profileOf(alice)).toMatchObject({ state: "fallback" });
  });
});

describe("a profile that changes", () => {
  test.each([
    { name: "from nothing", from: null, to: FAST },
    { name: "from one to another", from: FAST, to: SLOW },
    { name: "from one lane to several", from: FAST, to: { ...FAST, lanes: 8 } },
    { name: "from several lanes to one", from: { ...FAST, lanes: 8 }, to: FAST },
    { name: "to nothing", from: FAST, to: null },
  ])("loses no packet when one side hears of it later: $name", ({ from, to }) => {
    const { world, alice, bob } = makePair(from, from);
    let sent = 0;
    const talk = (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        alice.say(bob, `a${sent}`);
        bob.say(alice, `b${sent}`);
        sent += 1;
        world.time.advance(1_000);
      }
    };
    talk(5);

    alice.tunnel.replacePeers([peer(bob, to)]);
    talk(30);
    bob.tunnel.replacePeers([peer(alice, to)]);
    talk(10);

    expect(alice.heard()).toHaveLength(sent);
    expect(bob.heard()).toHaveLength(sent);
    const state = to === null ? "plain" : "active";
    expect(profileOf(alice)).toEqual({ state, wanted: to, used: to });
    expect(profileOf(bob)).toEqual({ state, wanted: to, used: to });
  });

  test("leaves the session that exists alone and makes a new one within a second", () => {
    const { world, alice, bob } = makePair(null, null);
    alice.say(bob, "before");
    world.time.advance(10_000);

    bob.tunnel.replacePeers([peer(alice, FAST)]);
    alice.tunnel.replacePeers([peer(bob, FAST)]);
    expect(profileOf(alice)).toEqual({ state: "changing", wanted: FAST, used: null });
    world.time.advance(1_000);

    expect(profileOf(alice)).toEqual({ state: "active", wanted: FAST, used: FAST });
    expect(profileOf(bob)).toEqual({ state: "active", wanted: FAST, used: FAST });
  });

  test("is answered for under the one before it, until the new one was seen working", () => {
    const { world, alice, bob } = makePair(FAST, FAST);
    alice.tunnel.replacePeers([peer(bob, SLOW)]);

    bob.say(alice, "under the old one");
    world.time.advance(1_000);
    expect(alice.heard()).toEqual(["under the old one"]);
    expect(profileOf(alice)).toMatchObject({ state: "changing", used: FAST });

    bob.tunnel.replacePeers([peer(alice, SLOW)]);
    world.time.advance(10_000);
    expect(profileOf(alice)).toMatchObject({ state: "active", used: SLOW });

    // Now somebody puts the old map back on one side only: it is over.
    bob.tunnel.replacePeers([]);
    bob.tunnel.replacePeers([peer(alice, FAST)]);
    bob.say(alice, "again under the old one");
    world.time.advance(20_000);
    expect(alice.heard()).toEqual(["under the old one"]);
  });
});

describe("a host that starts again while the other has not heard of the new profile", () => {
  test.each<{ name: string; before: LinkProfile | "plain"; to: LinkProfile | null }>([
    { name: "plain WireGuard", before: "plain", to: FAST },
    { name: "another profile", before: FAST, to: SLOW },
    { name: "a profile where there is none now", before: FAST, to: null },
  ])("answers under the one before: $name", ({ before, to }) => {
    const { alice, bob, world } = makeRestarted(before, to);

    bob.say(alice, "from the one with the older map");
    world.time.advance(1_000);
    alice.say(bob, "back");
    world.time.advance(1_000);

    expect(alice.heard()).toEqual(["from the one with the older map"]);
    expect(bob.heard()).toEqual(["back"]);
    expect(profileOf(alice)).toMatchObject({ state: "changing", wanted: to, used: before === "plain" ? null : before });
    expect(eventKinds(alice)).not.toContain("profile-settled");
  });

  test("never calls under the one before", () => {
    const { alice, bob, world } = makeRestarted("plain", FAST);

    alice.say(bob, "secret");
    world.time.advance(200_000);

    expect(bob.heard()).toEqual([]);
  });

  test("says when the new one was seen working, and accepts the one before no longer", () => {
    const { alice, bob, world } = makeRestarted("plain", FAST);
    bob.tunnel.replacePeers([peer(alice, FAST)]);
    bob.say(alice, "new");
    world.time.advance(1_000);

    expect(alice.heard()).toEqual(["new"]);
    expect(alice.events.filter(({ kind }) => kind === "profile-settled")).toEqual([
      { kind: "profile-settled", publicKey: bob.tunnel.publicKey, profile: FAST },
    ]);

    bob.tunnel.replacePeers([]);
    bob.tunnel.replacePeers([peer(alice, null)]);
    bob.say(alice, "old");
    world.time.advance(20_000);
    expect(alice.heard()).toEqual(["new"]);
  });

  test("accepts nothing but the profile of the map when it was told of none before", () => {
    const { alice, bob, world } = makePair(FAST, null);

    bob.say(alice, "old");
    world.time.advance(20_000);

    expect(alice.heard()).toEqual([]);
  });
});

describe("somebody on the path", () => {
  test("who drops, alters, repeats and swaps what they like never gets a session under anything but the profile", () => {
    const deed = fc.constantFrom<Deed>("pass", "pass", "drop", "flip", "repeat", "swap", "old");
    fc.assert(
      fc.property(fc.array(deed, { minLength: 40, maxLength: 40 }), fc.nat(147), (deeds, place) => {
        const { world, alice, bob } = makePair(FAST, FAST);
        world.network.interceptWith(attacker(world, deeds, place));

        for (let second = 0; second < 60; second += 1) {
          alice.say(bob, "a");
          bob.say(alice, "b");
          world.time.advance(1_000);
          for (const host of [alice, bob]) {
            const { state, used } = profileOf(host);
            expect(["pending", "active"]).toContain(state);
            expect(used === null ? state : "active").toBe(state);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test("who drops everything of the new profile cannot bring back the one before, nor plain WireGuard", () => {
    const { world, alice, bob } = makePair(null, null);
    const initiations = (): Datagram[] => world.network.sent.filter(({ payload }) => payload[0] === 1);
    alice.tunnel.replacePeers([peer(bob, FAST)]);
    bob.tunnel.replacePeers([peer(alice, FAST)]);
    world.network.interceptWith((datagram) => (datagram.payload[0] === 2 ? [] : [datagram]));

    alice.say(bob, "secret");
    bob.say(alice, "secret");
    world.time.advance(400_000);

    expect(initiations().length).toBeGreaterThan(10);
    expect([...alice.heard(), ...bob.heard()]).toEqual([]);
    for (const host of [alice, bob]) expect(profileOf(host)).toMatchObject({ state: "pending", used: null });
  });
});

type Deed = "pass" | "drop" | "flip" | "repeat" | "swap" | "old";

/** Does one deed per datagram, over and over. */
function attacker(
  world: VirtualWorld,
  deeds: readonly Deed[],
  place: number,
): (datagram: Datagram) => readonly Datagram[] {
  let turn = 0;
  return (datagram) => {
    const deed = deeds[turn % deeds.length] ?? "pass";
    turn += 1;
    const { payload } = datagram;
    switch (deed) {
      case "pass":
        return [datagram];
      case "drop":
        return [];
      case "flip":
        return [
          { ...datagram, payload: payload.with(place % payload.length, (payload[place % payload.length] ?? 0) ^ 1) },
        ];
      case "repeat":
        return [datagram, datagram];
      case "swap":
        return [{ from: datagram.to, to: datagram.from, payload }];
      case "old":
        return [world.network.sent[turn % world.network.sent.length] ?? datagram, datagram];
    }
  };
}

function profileOf(host: Host): { readonly state: string; readonly wanted: unknown; readonly used: unknown } {
  const [state] = host.tunnel.peers();
  if (!state) throw new Error("every host of these tests has one peer");
  return state.profile;
}

function peer(host: Host, profile: LinkProfile | null, profileFallback?: ProfileFallback): Host["asPeer"] {
  return { ...host.asPeer, ...(profile ? { profile } : {}), ...(profileFallback ? { profileFallback } : {}) };
}

/** Bob still has `before`; alice starts with `to` and what was stored of the time before. */
function makeRestarted(before: LinkProfile | "plain", to: LinkProfile | null): ReturnType<typeof makePair> {
  const world = makeWorld();
  const [alice, bob] = [makeHost(world, 1), makeHost(world, 2)];
  alice.tunnel.replacePeers([{ ...peer(bob, to), profileBefore: before }]);
  bob.tunnel.replacePeers([peer(alice, before === "plain" ? null : before)]);
  return { world, alice, bob };
}

function makePair(
  ofAlice: LinkProfile | null,
  ofBob: LinkProfile | null,
  fallback?: ProfileFallback,
): { readonly world: VirtualWorld; readonly alice: Host; readonly bob: Host } {
  const world = makeWorld();
  const [alice, bob] = [makeHost(world, 1), makeHost(world, 2)];
  alice.tunnel.replacePeers([peer(bob, ofAlice, fallback)]);
  bob.tunnel.replacePeers([peer(alice, ofBob, fallback)]);
  return { world, alice, bob };
}
