import type { Peer } from "../../api/types.ts";
import type { PeerFilter, PeersSearch } from "../../routes.ts";

/** Keeps the peers that match the search words and the filter. Every word must occur somewhere. */
export function filterPeers(peers: readonly Peer[], search: PeersSearch): readonly Peer[] {
  const words = (search.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return peers.filter((peer) => shows(peer, search.show) && words.every((word) => searchText(peer).includes(word)));
}

function shows(peer: Peer, filter: PeerFilter | undefined): boolean {
  switch (filter) {
    case undefined:
      return true;
    case "online":
      return peer.presence === "online";
    case "offline":
      return peer.presence !== "online";
    case "pending":
      return peer.map.state !== "applied";
  }
}

function searchText(peer: Peer): string {
  const parts = [peer.name, peer.ipv4, peer.ipv6, peer.endpoint, peer.publicKey, peer.fingerprint, peer.os];
  return parts.filter(Boolean).join(" ").toLowerCase();
}
