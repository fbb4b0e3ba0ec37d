import type { MapPeer, MapSelf } from "@weft/protocol";
import { concealFor } from "./conceal-plan.ts";
import { linkProfileOf } from "./link-profile.ts";
import { routeKind } from "./route.ts";
import type { Network, Peer } from "./peer.ts";

/** What a node is told about itself. */
export function selfOf(network: Network, peer: Peer): MapSelf {
  const conceal = concealFor(network.conceal, peer);
  return {
    peerId: peer.id,
    name: peer.name,
    networkId: network.id,
    networkName: network.name,
    ipv4: peer.ipv4,
    ipv6: peer.ipv6,
    ipv4Range: network.ipv4Range,
    ipv6Range: network.ipv6Range,
    mtu: TUNNEL_MTU,
    listenPort: 0,
    profileFallback: network.profileFallback,
    ...(conceal && { conceal }),
    ...(network.flowSampling !== null && { flowSampling: network.flowSampling }),
    ...(peer.serves.length > 0 && { serves: peer.serves }),
    ...(peer.exitChoice && { exit: peer.exitChoice }),
  };
}

/** What one node is told about another one. */
export function mapPeerFor(viewer: Peer | undefined, peer: Peer): MapPeer {
  const profile = viewer && linkProfileOf(viewer.capabilities, peer.capabilities);
  const told = usesExit(viewer, peer) ? { ...mapPeerOf(peer), routes: peer.routes } : mapPeerOf(peer);
  return profile ? { ...told, profile } : told;
}

/** True when a peer leaves through another one. */
export function usesExit(viewer: Peer | undefined, peer: Pick<Peer, "id">): boolean {
  return viewer?.exitChoice?.peerId === peer.id;
}

/** What every node is told about another one, but those that leave through it. */
export function mapPeerOf(peer: Peer): MapPeer {
  return {
    id: peer.id,
    name: peer.name,
    publicKey: peer.publicKey,
    ipv4: peer.ipv4,
    ipv6: peer.ipv6,
    ...(peer.gatewayPeerId && { gateway: peer.gatewayPeerId }),
    routes: peer.routes.filter((prefix) => routeKind({ prefix }) === "subnet"),
    endpoints: peer.endpoints.map(({ address }) => address),
    // A client keeps the way to its gateway open by itself: it knows whether somebody waits for it.
    keepaliveSeconds: peer.kind === "client" ? 0 : KEEPALIVE_SECONDS,
  };
}

/** 1,500 less the outer IPv6, UDP and WireGuard headers. */
const TUNNEL_MTU = 1_420;
/** What static clients are told, so that nothing they send has to be split on its way on. */
export const CLIENT_MTU = TUNNEL_MTU;
/** Keeps mappings of common NATs and firewalls open at a few bits a second. */
const KEEPALIVE_SECONDS = 25;
