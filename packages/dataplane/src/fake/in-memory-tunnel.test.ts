import { Secret } from "@weft/protocol";
import { describe, expect, test } from "vitest";
import type { VirtualWorld } from "./in-memory-tunnel.ts";
import {
  endpoint,
  eventKinds,
  type Host,
  introduce,
  LATENCY_MS,
  makeHost,
  makeWorld,
  START_UNIX_MS,
} from "./test-hosts.ts";
import type { Datagram } from "./virtual-network.ts";

describe("two tunnels in memory", () => {
  test("a packet starts a handshake and arrives unchanged, and so does the answer", () => {
    const { world, alice, bob } = makePair();

    alice.say(bob, "hello");
    world.time.advance(1_000);
    bob.say(alice, "hello yourself");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["hello"]);
    expect(alice.heard()).toEqual(["hello yourself"]);
    expect(countSent(world, 1)).toBe(1);
    expect(alice.tunnel.peers()[0]?.session.state).toBe("up");
    expect(bob.tunnel.peers()[0]?.session.state).toBe("up");
    expect(bob.tunnel.peers()[0]?.lastHandshakeAtMs).toBe(START_UNIX_MS + LATENCY_MS);
  });

  test("both initiating at the same moment loses no packet, and the pair goes on renewing its session", () => {
    const { world, alice, bob } = makePair();

    alice.say(bob, "from alice");
    bob.say(alice, "from bob");
    world.time.advance(1_000);
    for (let second = 0; second < 600; second += 1) {
      alice.say(bob, `a${second}`);
      bob.say(alice, `b${second}`);
      world.time.advance(1_000);
    }

    expect(bob.heard()).toHaveLength(601);
    expect(alice.heard()).toHaveLength(601);
    expect(eventKinds(alice)).not.toContain("peer-down");
  });

  test("a tunnel made anew reaches a peer at the address an earlier one heard it from, without a packet waiting", () => {
    const { world, alice, bob } = makePair();
    const heardFrom = alice.asPeer.endpoints[0] ?? null;
    bob.tunnel.replacePeers([{ ...alice.asPeer, endpoints: [] }]);

    bob.tunnel.resumePeers([{ publicKey: alice.tunnel.publicKey, endpoint: heardFrom }]);
    world.time.advance(1_000);

    expect(countSent(world, 1)).toBe(1);
    expect(alice.tunnel.peers()[0]?.session.state).toBe("up");
    expect(bob.tunnel.peers()[0]).toMatchObject({ endpoint: heardFrom, session: { state: "up" } });
  });

  test("renews its session every two minutes under traffic without losing a packet", () => {
    const { world, alice, bob } = makePair();

    for (let second = 0; second < 600; second += 1) {
      alice.say(bob, `${second}`);
      world.time.advance(1_000);
    }

    expect(bob.heard()).toHaveLength(600);
    expect(countSent(world, 1)).toBe(5);
    expect(eventKinds(bob)).toEqual(["peer-up"]);
  });

  test("an unused session ends after three minutes and nothing is sent any more", () => {
    const { world, alice, bob } = makePair();
    alice.say(bob, "once");
    world.time.advance(200_000);
    const sentBefore = world.network.sent.length;

    world.time.advance(600_000);

    expect(eventKinds(alice)).toEqual(["peer-up", "peer-down"]);
    expect(alice.tunnel.peers()[0]?.session.state).toBe("none");
    expect(world.network.sent.length).toBe(sentBefore);
  });

  test("tries every five seconds with a little jitter, gives up after ninety and starts again with the next packet", () => {
    const { world, alice, bob } = makePair();
    world.network.loseWhere(() => true);

    alice.say(bob, "into the void");
    world.time.advance(100_000);

    expect(countSent(world, 1)).toBeGreaterThanOrEqual(17);
    expect(countSent(world, 1)).toBeLessThanOrEqual(19);
    expect(alice.events.at(-1)).toMatchObject({ kind: "handshake-failed" });
    world.network.loseWhere(() => false);
    alice.say(bob, "again");
    world.time.advance(6_000);
    expect(bob.heard()).toEqual(["again"]);
  });

  test("a lost response costs one retry, not the session", () => {
    const { world, alice, bob } = makePair();
    let toLose = 1;
    world.network.loseWhere(({ payload }) => payload[0] === 2 && toLose-- > 0);

    alice.say(bob, "patience");
    world.time.advance(6_000);

    expect(bob.heard()).toEqual(["patience"]);
    expect(countSent(world, 1)).toBe(2);
  });

  test("different preshared keys never make a session, equal ones do", () => {
    const { world, alice, bob } = makePair();
    const key = (fill: number): Secret<Uint8Array> => new Secret(new Uint8Array(32).fill(fill));
    alice.tunnel.replacePeers([{ ...bob.asPeer, presharedKey: key(1) }]);
    bob.tunnel.replacePeers([{ ...alice.asPeer, presharedKey: key(2) }]);

    alice.say(bob, "secret");
    world.time.advance(20_000);
    expect(bob.heard()).toEqual([]);
    expect(alice.tunnel.counters().handshakes.droppedBadTag).toBeGreaterThan(0);

    bob.tunnel.replacePeers([{ ...alice.asPeer, presharedKey: key(1) }]);
    world.time.advance(10_000);
    expect(bob.heard()).toEqual(["secret"]);
  });

  test("an initiation from somebody who is no peer is dropped and counted", () => {
    const { world, alice, bob } = makePair();
    bob.tunnel.replacePeers([]);

    alice.say(bob, "let me in");
    world.time.advance(2_000);

    expect(bob.tunnel.counters().handshakes.droppedUnknownPeer).toBe(1);
    expect(countSent(world, 2)).toBe(0);
  });

  test("a replayed initiation is dropped", () => {
    const { world, alice, bob } = makePair();
    alice.say(bob, "first");
    world.time.advance(1_000);
    const initiation = world.network.sent.find(({ payload }) => payload[0] === 1);

    if (initiation) world.network.send(initiation);
    world.time.advance(1_000);

    expect(bob.tunnel.counters().handshakes.droppedReplay).toBe(1);
    expect(countSent(world, 2)).toBe(1);
  });

  test("under load a peer proves its address with a cookie and gets in at once", () => {
    const { world, alice, bob } = makePair();
    bob.engine.setLoad("high");

    alice.say(bob, "polite");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["polite"]);
    expect(bob.tunnel.counters().handshakes.cookieRepliesSent).toBe(1);
    expect(alice.tunnel.counters().handshakes.cookieRepliesAccepted).toBe(1);
  });

  test("a flood of initiations under load does not keep a legitimate peer out", () => {
    const { world, alice, bob } = makePair();
    const mallory = makeHost(world, 66);
    mallory.tunnel.replacePeers([bob.asPeer]);
    bob.engine.setLoad("high");
    mallory.say(bob, "x");
    world.time.advance(1_000);
    const flood = world.network.sent.filter(({ payload }) => payload[0] === 1);

    for (let round = 0; round < 2_000; round += 1) {
      for (const datagram of flood) world.network.send(datagram);
      if (round === 1_000) alice.say(bob, "still here");
      world.time.advance(1);
    }
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["still here"]);
    expect(bob.tunnel.counters().handshakes.droppedUnderLoad).toBeGreaterThan(1_000);
  });

  test("follows a peer that moves, and keeps the learnt address over the configured one", () => {
    const { world, alice, bob } = makePair();
    alice.say(bob, "home");
    world.time.advance(1_000);

    alice.engine.moveTo(endpoint("198.51.100.9:4000"));
    alice.say(bob, "roaming");
    world.time.advance(1_000);
    bob.tunnel.replacePeers([{ ...alice.asPeer, endpoints: [endpoint("192.0.2.200:1"), ...alice.asPeer.endpoints] }]);
    bob.say(alice, "found you");
    world.time.advance(1_000);

    expect(alice.heard()).toEqual(["found you"]);
    expect(bob.tunnel.peers()[0]).toMatchObject({ endpoint: "198.51.100.9:4000", endpointSource: "roamed" });
    expect(bob.events).toContainEqual({
      kind: "endpoint-moved",
      publicKey: alice.tunnel.publicKey,
      endpoint: "198.51.100.9:4000",
    });
  });

  test("finds the one address that works among eight within two retries", () => {
    const { world, alice, bob } = makePair();
    const dead = Array.from({ length: 7 }, (_, index) => endpoint(`203.0.113.${index + 1}:9`));
    alice.tunnel.replacePeers([{ ...bob.asPeer, endpoints: [...dead, ...bob.asPeer.endpoints] }]);

    alice.say(bob, "where are you");
    world.time.advance(11_000);

    expect(bob.heard()).toEqual(["where are you"]);
    expect(alice.tunnel.peers()[0]?.endpoint).toBe(bob.asPeer.endpoints[0]);
  });

  test("a peer with keepalive is called without traffic, also after the other side came late", () => {
    const { world, alice, bob } = makePair();
    bob.tunnel.replacePeers([]);
    alice.tunnel.replacePeers([{ ...bob.asPeer, keepaliveSeconds: 25 }]);
    world.time.advance(200_000);

    bob.tunnel.replacePeers([alice.asPeer]);
    world.time.advance(31_000);

    expect(alice.tunnel.peers()[0]?.session.state).toBe("up");
    expect(bob.tunnel.peers()[0]?.session.state).toBe("up");
  });

  test("a peer that forgot everything is called again after fifteen seconds of silence", () => {
    const { world, alice, bob } = makePair();
    alice.say(bob, "one");
    world.time.advance(1_000);
    bob.tunnel.replacePeers([]);
    bob.tunnel.replacePeers([alice.asPeer]);

    alice.say(bob, "lost");
    world.time.advance(16_000);
    alice.say(bob, "two");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["one", "two"]);
  });

  test("after close nothing is sent, no event comes, and changes are refused", () => {
    const { world, alice, bob } = makePair();
    alice.say(bob, "bye");
    world.time.advance(1_000);
    alice.tunnel.close();
    alice.tunnel.close();
    const before = world.network.sent.length;

    bob.say(alice, "anybody there");
    world.time.advance(10_000);

    expect(alice.heard()).toEqual([]);
    expect(world.network.sent.slice(before).every(({ from }) => from === bob.asPeer.endpoints[0])).toBe(true);
    expect(alice.tunnel.replacePeers([])).toMatchObject({ ok: false, error: { code: "engine_failed" } });
  });

  test("IPv6 works like IPv4, outside and inside", () => {
    const world = makeWorld();
    const [alice, bob] = [makeHost(world, 1, 6), makeHost(world, 2, 6)];
    alice.tunnel.replacePeers([bob.asPeer]);
    bob.tunnel.replacePeers([alice.asPeer]);

    alice.say(bob, "six");
    world.time.advance(1_000);

    expect(bob.heard()).toEqual(["six"]);
  });
});

function makePair(): { readonly world: VirtualWorld; readonly alice: Host; readonly bob: Host } {
  const world = makeWorld();
  const [alice, bob] = [makeHost(world, 1), makeHost(world, 2)];
  introduce(alice, bob);
  return { world, alice, bob };
}

function countSent(world: VirtualWorld, type: number): number {
  return world.network.sent.filter(({ payload }: Datagram) => payload[0] === type).length;
}
