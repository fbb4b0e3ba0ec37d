import { createHash } from "node:crypto";
import {
  type Endpoint,
  ipToBytes,
  hostPrefix,
  type IpAddress,
  parseEndpoint,
  parseIp,
  type Result,
  Secret,
} from "@weft/protocol";
import type { TunnelPeer } from "../tunnel.ts";
import { makePacket } from "./inner-packet.ts";
import { createInMemoryTunnel, type InMemoryTunnel, type TunnelWorld, type VirtualWorld } from "./in-memory-tunnel.ts";
import { createVirtualClock } from "./virtual-clock.ts";
import { createVirtualNetwork } from "./virtual-network.ts";

export const START_UNIX_MS = 1_700_000_000_000;
export const LATENCY_MS = 10;

/** A tunnel in memory with an inner address, and words for what it sends and hears. */
export type Host = InMemoryTunnel & {
  readonly asPeer: TunnelPeer;
  readonly address: IpAddress;
  readonly say: (to: Host, text: string) => void;
  readonly heard: () => readonly string[];
};

export function makeWorld(): VirtualWorld {
  const time = createVirtualClock(START_UNIX_MS);
  return { time, network: createVirtualNetwork(time.scheduler, LATENCY_MS) };
}

export function makeHost(world: TunnelWorld, number: number, family: 4 | 6 = 4): Host {
  const outer = endpoint(family === 4 ? `192.0.2.${number}:51820` : `[2001:db8::${number}]:51820`);
  const address = value(parseIp(family === 4 ? `100.64.0.${number}` : `fd00::${number}`));
  const privateKey = new Secret(new Uint8Array(32).fill(number));
  const made = createInMemoryTunnel({
    world,
    privateKey,
    endpoint: outer,
    addresses: [],
    random: seededRandom(number),
  });
  made.tunnel.replaceFilter([
    { id: 1, action: "allow", direction: "both", protocol: null, source: null, destination: null, ports: null },
  ]);
  return {
    ...made,
    address,
    asPeer: {
      publicKey: made.tunnel.publicKey,
      allowedIps: [hostPrefix(address)],
      endpoints: [outer],
      keepaliveSeconds: 0,
    },
    say: (to, text) => made.engine.sendPacket(makePacket(ipToBytes(address), ipToBytes(to.address), { port: 7, text })),
    heard: () => made.received.map((packet) => new TextDecoder().decode(packet.subarray(family === 4 ? 28 : 48))),
  };
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

export function endpoint(text: string): Endpoint {
  return value(parseEndpoint(text));
}

function value<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}

/** Makes two hosts peers of each other. */
export function introduce(alice: Host, bob: Host): void {
  alice.tunnel.replacePeers([bob.asPeer]);
  bob.tunnel.replacePeers([alice.asPeer]);
}

export function eventKinds(host: Host): readonly string[] {
  return host.events.map(({ kind }) => kind);
}
