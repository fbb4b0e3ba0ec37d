import { randomBytes } from "node:crypto";
import { hostPrefix, ipToBytes, parseEndpoint, parseIp, type Prefix, prefixParts, type Result } from "@weft/protocol";
import { describe } from "vitest";
import { contractCounters, contractRecords } from "../contract/counters-of.ts";
import { type ContractHost, tunnelContract } from "../contract/tunnel-contract.ts";
import { tunnelPeerOf } from "../contract/tunnel-peer-of.ts";
import { generateKeyPair } from "../keys.ts";
import { createInMemoryTunnel, type InMemoryTunnel, type VirtualWorld } from "./in-memory-tunnel.ts";
import { makePacket } from "./inner-packet.ts";
import { createVirtualClock } from "./virtual-clock.ts";
import { createVirtualNetwork } from "./virtual-network.ts";

describe("the in-memory tunnel", () => {
  tunnelContract(async () => {
    const time = createVirtualClock(1_700_000_000_000);
    const world = { time, network: createVirtualNetwork(time.scheduler, 5) };
    const members = new Map<ContractHost, InMemoryTunnel>();
    const make = (number: number): ContractHost => makeHost(world, members, number);
    return { hosts: [make(1), make(2), make(3)], dispose: async () => {} };
  });
});

function makeHost(world: VirtualWorld, members: Map<ContractHost, InMemoryTunnel>, number: number): ContractHost {
  const endpoint = must(parseEndpoint(`192.0.2.${number}:51820`));
  const { privateKey, publicKey } = generateKeyPair();
  let inner = hostPrefix(must(parseIp(`100.64.0.${number}`)));
  const random = (byteCount: number): Uint8Array => new Uint8Array(randomBytes(byteCount));
  const member = createInMemoryTunnel({ world, privateKey, endpoint, addresses: [inner], random });
  const { tunnel } = member;
  const host: ContractHost = {
    publicKey,
    endpoint,
    inner,
    replacePeers: async (peers) => must(tunnel.replacePeers(peers.map(tunnelPeerOf))),
    changePeers: async ({ upserts, removals }) =>
      must(tunnel.changePeers({ upserts: upserts.map(tunnelPeerOf), removals })),
    replaceFilter: async (rules) => must(tunnel.replaceFilter(rules)),
    async moveInner(next) {
      must(tunnel.replaceSelf({ addresses: [next], routes: [], mtu: 1_420 }));
      inner = next;
    },
    peers: async () => tunnel.peers(),
    events: async () => member.events,
    counters: async () => contractCounters(tunnel),
    async reaches(to, packet) {
      member.engine.sendPacket(makePacket(bytesOf(inner), bytesOf(to.inner), packet));
      world.time.advance(3_000);
      return members.get(to)?.received.some((bytes) => textOf(bytes) === packet.text) ?? false;
    },
    flows: async () => tunnel.flows(1_000),
    flowRecords: async () => contractRecords(tunnel),
    close: async () => tunnel.close(),
  };
  members.set(host, member);
  return host;
}

function bytesOf(prefix: Prefix): Uint8Array {
  return ipToBytes(prefixParts(prefix).address);
}

function textOf(packet: Uint8Array): string {
  return new TextDecoder().decode(packet.subarray(28));
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
