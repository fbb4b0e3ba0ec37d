import {
  groupIds,
  identityKeyFromBytes,
  parseEndpoint,
  parsePrefix,
  peerIds,
  publicKeyFromBytes,
  ruleIds,
} from "@weft/protocol";
import type { GroupId, PeerId, Result } from "@weft/protocol";
import { addressesAt } from "../domain/address-pool.ts";
import { DEFAULT_NAME_SETTINGS } from "../domain/names.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { ALL } from "../domain/policy-rule.ts";
import type { PolicyRule, Selector } from "../domain/policy-rule.ts";
import { createNetworkMirror } from "../live/network-mirror.ts";
import type { NetworkMirror } from "../live/network-mirror.ts";

/** A network with room for millions. */
export const NETWORK: Network = {
  id: "net_0000000000000000000000000g" as never,
  name: "office",
  ipv4Range: value(parsePrefix("10.64.0.0/10")),
  ipv6Range: value(parsePrefix("fd00::/64")),
  epoch: 1n,
  sequence: 1n,
  profileFallback: "refuse",
  flowSampling: null,
  flowKeepHours: 168,
  approval: "automatic",
  membershipSeconds: null,
  idleRemovalSeconds: null,
  conceal: null,
  createdAt: new Date(0),
};

/** 16 or 32 bytes that are different for every number and kind. */
function bytesOf(kind: number, number: number, length = 16): Uint8Array {
  const bytes = new Uint8Array(length).fill(kind);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

export const groupOf = (number: number): GroupId => groupIds.make(() => bytesOf(7, number));
export const idOf = (number: number): PeerId => peerIds.make(() => bytesOf(8, number));

/** An active peer; its number tells it from all others. */
export function aPeer(number: number, groups: readonly number[], change: Partial<Peer> = {}): Peer {
  return {
    id: idOf(number),
    networkId: NETWORK.id,
    name: `host-${number}`,
    hostname: `host-${number}`,
    kind: "node",
    gatewayPeerId: null,
    identityKey: value(identityKeyFromBytes(bytesOf(1, number, 32))),
    publicKey: value(publicKeyFromBytes(bytesOf(2, number, 32))),
    hostOffset: BigInt(number),
    ...addressesAt(NETWORK, BigInt(number)),
    os: "linux",
    arch: "x64",
    agentVersion: "0.1.0",
    capabilities: [],
    endpoints: [{ address: value(parseEndpoint(`192.0.2.1:${1 + (number % 60_000)}`)), source: "interface" }],
    rxBytes: 0n,
    txBytes: 0n,
    counterEpoch: null,
    epochRxBytes: 0n,
    epochTxBytes: 0n,
    lastSeenAt: null,
    state: "active",
    expiresAt: null,
    groupIds: groups.map(groupOf).toSorted(),
    routes: [],
    serves: [],
    exitChoice: null,
    ephemeralSeconds: null,
    createdAt: new Date(0),
    ...change,
  };
}

/** A rule that opens one TCP port of its own. */
export function aRule(number: number, change: Partial<PolicyRule> = {}): PolicyRule {
  return {
    id: ruleIds.make(() => bytesOf(9, number)),
    action: "allow",
    state: "on",
    source: ALL,
    destination: ALL,
    direction: "both-ways",
    protocol: "tcp",
    ports: [{ low: 1 + number, high: 1 + number }],
    icmpType: null,
    icmpCode: null,
    ...change,
  };
}

export const group = (number: number): Selector => ({ kind: "group", id: groupOf(number) });

/** The network in memory; without rules given, all may reach all. */
export function aMirror(peers: readonly Peer[], rules: readonly PolicyRule[] = [aRule(0)]): NetworkMirror {
  const names = { settings: DEFAULT_NAME_SETTINGS, records: [], nameservers: [] };
  return createNetworkMirror({ network: NETWORK, peers, rules, names }, 0);
}

function value<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
