import type { TunnelPeer, TunnelSelf } from "@weft/dataplane";
import {
  endpointParts,
  hostPrefix,
  parseConcealLines,
  prefixContains,
  type ConcealProfile,
  type Endpoint,
  type LinkProfile,
  type MapPeer,
  type MapSelf,
  type Prefix,
} from "@weft/protocol";

import type { MtuPolicy } from "../settings/interface-mtu.ts";

/** What the tunnel needs to know of a peer beside its entry in the map. */
export type TunnelPeerContext = {
  readonly profileBefore?: LinkProfile | "plain" | undefined;
  /** Static clients that are reached through the peer. */
  readonly clients?: readonly MapPeer[];
};

/** True when this node itself has a tunnel to the peer; what a gateway has behind it is reached through the gateway. */
export function isTunnelled(peer: MapPeer, self: MapSelf): boolean {
  return peer.gateway === undefined || peer.gateway === self.peerId;
}

/** A peer of the map as the tunnel wants it. */
export function tunnelPeer(
  peer: MapPeer,
  self: MapSelf,
  { profileBefore, clients = [] }: TunnelPeerContext = {},
): TunnelPeer {
  return {
    publicKey: peer.publicKey,
    ...(peer.presharedKey ? { presharedKey: peer.presharedKey } : {}),
    allowedIps: [...ownPrefixes(peer), ...peer.routes, ...clients.flatMap(ownPrefixes)],
    endpoints: peer.endpoints.filter((endpoint) => !insideNetwork(endpoint, self)),
    keepaliveSeconds: peer.keepaliveSeconds,
    ...(peer.profile ? { profile: peer.profile } : {}),
    ...(profileBefore ? { profileBefore } : {}),
    ...(self.profileFallback ? { profileFallback: self.profileFallback } : {}),
    // Extension messages are for weft nodes that agreed on more than plain WireGuard; a plain member never gets one.
    pathProbes: peer.profile ? "sent" : "not-sent",
  };
}

/** The node's own side as the tunnel wants it. */
export function tunnelSelf(
  self: MapSelf,
  { paddingBytes = concealOf(self)?.s4 ?? 0, ...policy }: MtuPolicy,
): TunnelSelf {
  return {
    addresses: ownPrefixes(self),
    routes: networkRanges(self),
    mtu: Math.max(self.mtu - paddingBytes, Math.min(self.mtu, IPV6_MTU_MIN)),
    ...policy,
  };
}

/** The addresses of a peer inside the network. */
export function ownPrefixes({ ipv4, ipv6 }: Pick<MapPeer, "ipv4" | "ipv6">): Prefix[] {
  return [ipv4, ipv6].flatMap((address) => (address ? [hostPrefix(address)] : []));
}

/** How the map wants datagrams disguised; null = not at all, or in a way that this version does not know. */
export function concealOf({ conceal }: MapSelf): ConcealProfile | null {
  const read = conceal && parseConcealLines(conceal.settings.expose());
  return read?.ok ? read.value : null;
}

/** Ranges that are reached through the tunnel. */
export function networkRanges(self: MapSelf): Prefix[] {
  return [self.ipv4Range, self.ipv6Range].flatMap((range) => (range ? [range] : []));
}

const IPV6_MTU_MIN = 1_280;

/** An endpoint inside the network would send the tunnel through itself (ND-14). */
function insideNetwork(endpoint: Endpoint, self: MapSelf): boolean {
  const { address } = endpointParts(endpoint);
  return networkRanges(self).some((range) => prefixContains(range, address));
}
