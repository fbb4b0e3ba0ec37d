import type { Peer, Route } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";

/** Peers by id, for their names and what they say of themselves. */
export type PeersById = ReadonlyMap<string, Peer>;

/** What a peer is called; of one that is gone only that. */
export function peerName(peers: PeersById, peerId: string): string {
  return peers.get(peerId)?.name ?? pageStrings.routes.unknownPeer;
}

/** How dialogs and labels call a route. */
export function routeTitle(route: Route, peers: PeersById): string {
  return pageStrings.routes.through(route.prefix, peerName(peers, route.peerId));
}

/** Whether packets go this way now, in words. `serves` is the route that has the range instead, if one is known. */
export function servingText(route: Route, peers: PeersById, serves: Route | undefined): string {
  const text = pageStrings.routes.serving;
  if (route.state === "pending") return text.waits;
  if (!route.active) return serves ? text.reserve(peerName(peers, serves.peerId)) : text.reserveUnknown;
  if (route.router === "offline") return text.deaf;
  return route.kind === "exit" ? text.exit : text.active;
}
