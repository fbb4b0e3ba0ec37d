import { ipFrom, isIpv4, isIpv6, parsePrefix, type Ipv4Address, type Ipv6Address, type Prefix } from "../addresses.ts";
import type { RandomBytes } from "../inputs.ts";
import { networkIds, peerIds } from "../ids.ts";
import { publicKeyFromBytes, serverKeyFromBytes, type PublicKey, type ServerKey } from "../keys.ts";
import type { FilterRule, MapPeer, MapSelf, NetworkMap } from "../network-map.ts";
import type { Result } from "../result.ts";

export { nobleCrypto } from "./noble-crypto.ts";

/** A peer number `index` of the test network; override what the test is about. */
export function aPeer(index = 1, changes: Partial<MapPeer> = {}): MapPeer {
  return {
    id: peerIds.make(countingRandom(index)),
    name: `peer-${index}`,
    publicKey: aPublicKey(index),
    ipv4: anIpv4(index),
    ipv6: anIpv6(index),
    routes: [],
    endpoints: [],
    keepaliveSeconds: 0,
    ...changes,
  };
}

/** Own settings of node 0 of the test network. */
export function aSelf(changes: Partial<MapSelf> = {}): MapSelf {
  return {
    peerId: peerIds.make(countingRandom(0)),
    name: "self",
    networkId: networkIds.make(countingRandom(0)),
    networkName: "test network",
    ipv4: anIpv4(0),
    ipv6: anIpv6(0),
    ipv4Range: aPrefix("10.77.0.0/16"),
    ipv6Range: aPrefix("fd77::/64"),
    mtu: 1420,
    listenPort: 0,
    ...changes,
  };
}

/** A map with `peerCount` peers and the rule that lets everything pass. */
export function aNetworkMap(peerCount = 2, changes: Partial<NetworkMap> = {}): NetworkMap {
  return {
    self: aSelf(),
    peers: Array.from({ length: peerCount }, (_, index) => aPeer(index + 1)),
    filter: [anAllowRule()],
    ...changes,
  };
}

export function anAllowRule(changes: Partial<FilterRule> = {}): FilterRule {
  return {
    id: 1,
    action: "allow",
    direction: "both",
    protocol: null,
    source: null,
    destination: null,
    ports: null,
    ...changes,
  };
}

/** 32 bytes that are different for every index; not a key anybody holds the private part of. */
export function aPublicKey(index = 1): PublicKey {
  return mustBe(publicKeyFromBytes(countingRandom(index)(32)));
}

export function aServerKey(index = 1): ServerKey {
  return mustBe(serverKeyFromBytes(countingRandom(index)(32)));
}

export function aPrefix(text: string): Prefix {
  return mustBe(parsePrefix(text));
}

/** Address `10.77.x.y` of the peer with this index. */
export function anIpv4(index: number): Ipv4Address {
  const address = ipFrom(4, (10n << 24n) + (77n << 16n) + BigInt(index) + 1n);
  if (!isIpv4(address)) throw new Error("an IPv4 number makes an IPv4 address");
  return address;
}

/** Address `fd77::x` of the peer with this index. */
export function anIpv6(index: number): Ipv6Address {
  const address = ipFrom(6, (0xfd77n << 112n) + BigInt(index) + 1n);
  if (!isIpv6(address)) throw new Error("an IPv6 number makes an IPv6 address");
  return address;
}

/** Deterministic bytes: the same seed gives the same sequence. */
export function countingRandom(seed: number): RandomBytes {
  let state = (seed * 2_654_435_761 + 97) >>> 0;
  return (length) =>
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

/** The value of a success; a failure ends the test with its reason. */
export function mustBe<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`expected a success, got ${JSON.stringify(result.error)}`);
  return result.value;
}
