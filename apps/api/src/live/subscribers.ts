import type { NetworkId, PeerId } from "@weft/protocol";
import type { NetworkEvent, PeerEvent } from "../registry/live-events.ts";
import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";

/** Who watches what. */
export type Subscribers = {
  readonly addNetwork: (id: NetworkId, signal: AbortSignal) => Feed<NetworkEvent>;
  readonly addPeer: (
    peer: { readonly id: PeerId; readonly networkId: NetworkId },
    signal: AbortSignal,
  ) => Feed<PeerEvent>;
  readonly ofNetwork: (id: NetworkId) => readonly Feed<NetworkEvent>[];
  readonly ofPeer: (id: PeerId) => readonly Feed<PeerEvent>[];
  readonly networks: () => Iterable<NetworkId>;
  /** Feeds of all peers that somebody watches. */
  readonly allPeers: () => readonly Feed<PeerEvent>[];
  /** True when somebody looks at the node or at its whole network. */
  readonly isWatched: (id: PeerId, networkId: NetworkId) => boolean;
};

export type SubscriberEvents = {
  readonly onNetworkWatch: (id: NetworkId) => void;
  readonly onPeerWatch: (id: PeerId, networkId: NetworkId) => void;
};

export function createSubscribers(events: SubscriberEvents): Subscribers {
  const networks = new Map<NetworkId, Set<Feed<NetworkEvent>>>();
  const peers = new Map<PeerId, Set<Feed<PeerEvent>>>();
  return {
    addNetwork(id, signal) {
      const feed: Feed<NetworkEvent> = createFeed(signal, () => {
        if (remove(networks, id, feed)) events.onNetworkWatch(id);
      });
      if (add(networks, id, feed)) events.onNetworkWatch(id);
      return feed;
    },
    addPeer(peer, signal) {
      const feed: Feed<PeerEvent> = createFeed(signal, () => {
        if (remove(peers, peer.id, feed)) events.onPeerWatch(peer.id, peer.networkId);
      });
      if (add(peers, peer.id, feed)) events.onPeerWatch(peer.id, peer.networkId);
      return feed;
    },
    ofNetwork: (id) => [...(networks.get(id) ?? [])],
    ofPeer: (id) => [...(peers.get(id) ?? [])],
    networks: () => networks.keys(),
    allPeers: () => [...peers.values()].flatMap((feeds) => Array.from(feeds)),
    isWatched: (id, networkId) => networks.has(networkId) || peers.has(id),
  };
}

/** True when it is the first of its subject. */
function add<Subject, Member>(book: Map<Subject, Set<Member>>, subject: Subject, member: Member): boolean {
  const members = book.get(subject);
  if (members) {
    members.add(member);
    return false;
  }
  book.set(subject, new Set([member]));
  return true;
}

/** True when it was the last of its subject. */
function remove<Subject, Member>(book: Map<Subject, Set<Member>>, subject: Subject, member: Member): boolean {
  const members = book.get(subject);
  if (!members?.delete(member) || members.size > 0) return false;
  book.delete(subject);
  return true;
}
