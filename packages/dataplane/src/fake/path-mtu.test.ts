import { createHash } from "node:crypto";
import {
  type Endpoint,
  hostPrefix,
  ipToBytes,
  type LinkProfile,
  parseEndpoint,
  parseIp,
  type Result,
  Secret,
} from "@weft/protocol";
import { describe, expect, test } from "vitest";
import { PROBE_TIMEOUT_MS, PROBES_MAX, VERIFY_PAUSE_MS } from "../core/path-mtu.ts";
import type { PeerPathMtu, TunnelPeer } from "../tunnel.ts";
import { makePacket } from "./inner-packet.ts";
import { createInMemoryTunnel, type InMemoryTunnel } from "./in-memory-tunnel.ts";
import { createVirtualClock } from "./virtual-clock.ts";
import { createVirtualNetwork, type Datagram, type VirtualNetwork } from "./virtual-network.ts";

describe("two tunnels whose path carries less than usual", () => {
  test("find out and use what it carries, each for its own direction", () => {
    const { alice, bob, time } = makePair({ carries: 1_372 });

    alice.say("hello");
    time.advance(60_000);

    for (const host of [alice, bob])
      expect(host.path()).toEqual({ state: "verified", mtu: 1_340, datagramBytes: 1_372 });
  });

  test("notice a black hole that opens under large traffic, and only there", () => {
    const { alice, bob, time, network } = makePair({ carries: 1_500 });
    alice.say("hello");
    time.advance(60_000);
    expect(alice.path()).toMatchObject({ state: "verified", mtu: 1_420 });

    carry(network, 1_372);
    alice.say("x".repeat(1_300));
    time.advance(VERIFY_PAUSE_MS + PROBES_MAX * PROBE_TIMEOUT_MS + 1_000);

    expect(alice.path()).toMatchObject({ state: "searching" });
    time.advance(30_000);
    expect(alice.path()).toEqual({ state: "verified", mtu: 1_340, datagramBytes: 1_372 });
    expect(bob.path()).toMatchObject({ mtu: 1_420 });
  });

  test("begin anew when the peer is reached elsewhere", () => {
    const { alice, bob, time } = makePair({ carries: 1_372 });
    alice.say("hello");
    time.advance(60_000);

    bob.engine.moveTo(endpoint("[2001:db8::9]:51820"));
    bob.say("from elsewhere");
    time.advance(500);

    expect(alice.path()).toMatchObject({ state: "assumed", mtu: 1_420 });
    time.advance(60_000);
    expect(alice.path()).toEqual({ state: "verified", mtu: 1_340, datagramBytes: 1_372 });
  });

  test("do not take a late answer about the old path for one about the new path", () => {
    const { alice, bob, time, network } = makePair({ carries: 1_452 });
    const held: Datagram[] = [];
    network.interceptWith((datagram) => {
      if (datagram.from !== BOB || datagram.payload.length !== PROBE_ANSWER_BYTES) return [datagram];
      held.push(datagram);
      return [];
    });
    alice.say("hello");
    time.advance(100);
    const [late] = held;
    if (!late) throw new Error("bob answered a probe");

    network.interceptWith((datagram) => [datagram]);
    carry(network, 1_372);
    const elsewhere = endpoint("[2001:db8::9]:51820");
    bob.engine.moveTo(elsewhere);
    bob.say("from elsewhere");
    time.advance(15);
    network.send({ ...late, from: elsewhere });
    time.advance(60_000);

    expect(alice.path()).toEqual({ state: "verified", mtu: 1_340, datagramBytes: 1_372 });
  });

  test("forget the path with the session", () => {
    const { alice, time } = makePair({ carries: 1_372 });
    alice.say("hello");
    time.advance(60_000);

    time.advance(200_000);

    expect(alice.path()).toEqual({ state: "unknown" });
  });
});

test("an interface grows to what the widest path carries and shrinks when that path is gone", () => {
  const { alice, bob, time } = makePair({ carries: 8_972, mtuMax: 9_000 });
  expect(alice.interfaceMtu()).toBe(1_420);

  alice.say("hello");
  time.advance(60_000);
  expect(alice.path()).toEqual({ state: "verified", mtu: 8_940, datagramBytes: 8_972 });
  expect([alice.interfaceMtu(), bob.interfaceMtu()]).toEqual([8_940, 8_940]);

  alice.tunnel.replacePeers([]);
  time.advance(1_000);
  expect(alice.interfaceMtu()).toBe(1_420);
});

test("a path that carries more changes nothing where the interface has a fixed MTU", () => {
  const { alice, time } = makePair({ carries: 8_972 });

  alice.say("hello");
  time.advance(60_000);

  expect(alice.path()).toEqual({ state: "verified", mtu: 1_420, datagramBytes: 1_452 });
  expect(alice.interfaceMtu()).toBe(1_420);
});

test.each(["both", "bob, and alice may too"] as const)(
  "towards plain WireGuard nothing but WireGuard is ever sent (plain: %s)",
  (plain) => {
    const { alice, time, network } = makePair({ carries: 1_372, plain });

    alice.say("hello");
    alice.say("x".repeat(1_300));
    time.advance(120_000);

    // Two handshake messages, two packets, keepalives.
    expect(network.sent.filter(({ payload }) => payload.length > 148 && payload.length !== 1_360)).toEqual([]);
    expect(alice.path()).toEqual({ state: "assumed", mtu: 1_420, datagramBytes: 1_452 });
  },
);

const BOB = "192.0.2.2:51820";
const PROBE_ANSWER_BYTES = 48;
const PROFILE: LinkProfile = { revision: 1, cipher: "chacha20-poly1305", elision: "on", lanes: 1 };

type Host = InMemoryTunnel & { readonly say: (text: string) => void; readonly path: () => PeerPathMtu | undefined };

/** `plain`: which of the two speaks nothing but WireGuard. */
function makePair(options: {
  readonly carries: number;
  readonly mtuMax?: number;
  readonly plain?: "both" | "bob, and alice may too";
}): {
  readonly alice: Host;
  readonly bob: Host;
  readonly time: ReturnType<typeof createVirtualClock>;
  readonly network: VirtualNetwork;
} {
  const time = createVirtualClock(1_700_000_000_000);
  const network = createVirtualNetwork(time.scheduler, 10);
  carry(network, options.carries);
  const [alice, bob] = ([1, 2] as const).map((number) => {
    const made = createInMemoryTunnel({
      world: { time, network },
      privateKey: new Secret(new Uint8Array(32).fill(number)),
      endpoint: endpoint(`192.0.2.${number}:51820`),
      addresses: [],
      random: seededRandom(number),
      ...(options.mtuMax ? { mtuMax: options.mtuMax } : {}),
    });
    made.tunnel.replaceFilter([
      { id: 1, action: "allow", direction: "both", protocol: null, source: null, destination: null, ports: null },
    ]);
    return made;
  });
  if (!alice || !bob) throw new Error("there are two");
  const asPeer = (host: InMemoryTunnel, number: number): TunnelPeer => ({
    publicKey: host.tunnel.publicKey,
    allowedIps: [hostPrefix(address(number))],
    endpoints: [endpoint(`192.0.2.${number}:51820`)],
    keepaliveSeconds: 0,
    pathProbes: "sent",
    ...(options.plain === "both" || (options.plain && number === 1) ? {} : { profile: PROFILE }),
    profileFallback: "plain",
  });
  alice.tunnel.replacePeers([asPeer(bob, 2)]);
  bob.tunnel.replacePeers([asPeer(alice, 1)]);
  return { alice: withVoice(alice, 1), bob: withVoice(bob, 2), time, network };
}

function withVoice(host: InMemoryTunnel, number: number): Host {
  const [from, to] = [address(number), address(3 - number)].map(ipToBytes);
  if (!from || !to) throw new Error("there are two");
  return {
    ...host,
    say: (text) => host.engine.sendPacket(makePacket(from, to, { port: 7, text })),
    path: () => host.tunnel.peers()[0]?.pathMtu,
  };
}

function carry(network: VirtualNetwork, payloadMax: number): void {
  network.loseWhere(({ payload }) => payload.length > payloadMax);
}

function address(number: number) {
  return value(parseIp(`100.64.0.${number}`));
}

function endpoint(text: string): Endpoint {
  return value(parseEndpoint(text));
}

function value<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}

/** A stream of bytes that is the same in every run. */
function seededRandom(seed: number): (byteCount: number) => Uint8Array {
  let counter = 0;
  return (byteCount) => {
    counter += 1;
    const digest = createHash("sha512").update(`${seed}/${counter}`).digest();
    return new Uint8Array(digest.subarray(0, byteCount));
  };
}
