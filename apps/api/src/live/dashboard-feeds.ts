import type { NetworkId, PeerId } from "@weft/protocol";
import type { Peer } from "../domain/peer.ts";
import type { PresenceBook } from "../domain/presence.ts";
import { STALE_MS } from "../domain/traffic.ts";
import { guarded } from "../jobs/guarded.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { NetworkEvent, PeerEvent } from "../registry/live-events.ts";
import type { PeerView } from "../registry/peer-schemas.ts";
import { peerView } from "../registry/views.ts";
import type { AttachedStream } from "./attached-stream.ts";
import { liveClient } from "./client-presence.ts";
import { knownOf, livePeer, peerSample } from "./live-views.ts";
import { createNetworkCharts } from "./network-charts.ts";
import type { NetworkHub } from "./network-hub.ts";
import { createSubscribers } from "./subscribers.ts";
import type { Subscribers } from "./subscribers.ts";
import type { TrafficBook } from "./traffic-book.ts";

/** Keeps dashboards up to date, and asks nodes for fine counters while somebody looks. */
export type DashboardFeeds = {
  readonly watchNetwork: (hub: NetworkHub, signal: AbortSignal) => AsyncIterable<NetworkEvent>;
  readonly watchPeer: (hub: NetworkHub, peer: Peer, signal: AbortSignal) => AsyncIterable<PeerEvent>;
  readonly notePeer: (networkId: NetworkId, peerId: PeerId) => void;
  readonly noteRemoved: (networkId: NetworkId, peerId: PeerId) => void;
  /** The network is gone with all its peers. */
  readonly noteGone: (networkId: NetworkId) => void;
  readonly noteAttached: (hub: NetworkHub, stream: AttachedStream) => void;
  readonly noteCounters: (hub: NetworkHub, peerId: PeerId) => void;
  readonly dispose: () => void;
};

type FeedDeps = {
  readonly onError: (event: string, error: unknown) => void;
  readonly presence: PresenceBook<PeerId>;
  readonly traffic: TrafficBook;
  readonly clock: WallClock;
  readonly networks: ReadonlyMap<NetworkId, NetworkHub>;
  readonly find: (id: PeerId) => { readonly hub: NetworkHub; readonly peer: Peer } | undefined;
};

export function createDashboardFeeds(deps: FeedDeps): DashboardFeeds {
  const dirty = new Map<NetworkId, Set<PeerId>>();
  const subscribers = createSubscribers({
    onNetworkWatch(id) {
      const hub = deps.networks.get(id);
      for (const stream of hub?.streams.values() ?? []) tellInterval(id, stream);
    },
    onPeerWatch(id, networkId) {
      const stream = deps.networks.get(networkId)?.streams.get(id);
      if (stream) tellInterval(networkId, stream);
    },
  });
  const tellInterval = (networkId: NetworkId, stream: AttachedStream) => {
    const intervalMs = subscribers.isWatched(stream.peerId, networkId) ? WATCHED_MS : UNWATCHED_MS;
    stream.socket.send({ kind: "watch", intervalMs });
  };
  const viewOf = (hub: NetworkHub, peer: Peer) => {
    const place = { stream: hub.streams.get(peer.id), nowMs: deps.clock.nowMs() };
    const live =
      peer.kind === "client"
        ? liveClient(deps.traffic, peer, place.nowMs)
        : livePeer(knownOf(deps, hub, peer), peer, place);
    return peerView(peer, live, hub.mirror.network());
  };
  const charts = createNetworkCharts({ ...deps, subscribers });
  const onFault = (error: unknown) => deps.onError("dashboards_not_fed", error);
  const timers = [
    setInterval(
      guarded(() => sendDirty({ ...deps, subscribers, viewOf }, dirty), onFault),
      VIEW_MS,
    ),
    setInterval(guarded(charts.step, onFault), WATCHED_MS),
    setInterval(
      guarded(() => beat(subscribers, deps.clock.nowMs()), onFault),
      WATCHED_MS,
    ),
  ];
  return {
    watchNetwork(hub, signal) {
      const feed = subscribers.addNetwork(hub.id, signal);
      feed.push({ kind: "history", points: [...charts.history(hub)] });
      pushPeers(
        feed,
        [...hub.mirror.peers().values()].map((peer) => viewOf(hub, peer)),
      );
      return feed.events;
    },
    watchPeer(hub, peer, signal) {
      const feed = subscribers.addPeer(peer, signal);
      for (const event of knownOfPeer({ ...deps, viewOf }, hub, peer)) feed.push(event);
      return feed.events;
    },
    notePeer(networkId, peerId) {
      dirty.set(networkId, (dirty.get(networkId) ?? new Set<PeerId>()).add(peerId));
    },
    noteRemoved(networkId, peerId) {
      dirty.get(networkId)?.delete(peerId);
      for (const feed of subscribers.ofNetwork(networkId)) feed.push({ kind: "peer-removed", peerId });
      for (const feed of subscribers.ofPeer(peerId)) feed.end();
    },
    noteGone(networkId) {
      dirty.delete(networkId);
      for (const feed of subscribers.ofNetwork(networkId)) feed.end();
    },
    noteAttached(hub, stream) {
      if (subscribers.isWatched(stream.peerId, hub.id)) tellInterval(hub.id, stream);
      dirty.set(hub.id, (dirty.get(hub.id) ?? new Set<PeerId>()).add(stream.peerId));
    },
    noteCounters(hub, peerId) {
      const feeds = subscribers.ofPeer(peerId);
      const sample = feeds.length > 0 ? peerSample(hub, deps.traffic, peerId) : undefined;
      if (sample) for (const feed of feeds) feed.push(sample);
    },
    dispose() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** What the page of a peer begins with. */
function knownOfPeer(
  deps: FeedDeps & { readonly viewOf: (hub: NetworkHub, peer: Peer) => PeerView },
  hub: NetworkHub,
  peer: Peer,
): readonly PeerEvent[] {
  const nowMs = deps.clock.nowMs();
  const traffic = deps.traffic.find(peer.id);
  // What a node said before it fell silent is history.
  const isFresh = nowMs - (traffic?.latest()?.atMs ?? -Infinity) <= STALE_MS;
  const sample = isFresh ? peerSample(hub, deps.traffic, peer.id) : undefined;
  return [
    { kind: "history", points: [...(traffic?.history(nowMs) ?? [])] },
    { kind: "peer", peer: deps.viewOf(hub, peer) },
    ...(sample ? [sample] : []),
  ];
}

/** Tells who watches a peer that the stream is alive, however silent the peer is. */
function beat(subscribers: Subscribers, atMs: number): void {
  for (const feed of subscribers.allPeers()) feed.push({ kind: "heartbeat", atMs });
}

/** Sends the rows that changed since the last time. */
function sendDirty(
  deps: FeedDeps & {
    readonly subscribers: Subscribers;
    readonly viewOf: (hub: NetworkHub, peer: Peer) => PeerView;
  },
  dirty: Map<NetworkId, Set<PeerId>>,
): void {
  for (const [networkId, ids] of dirty) {
    dirty.delete(networkId);
    const hub = deps.networks.get(networkId);
    const feeds = deps.subscribers.ofNetwork(networkId);
    const wanted = [...ids].filter((id) => feeds.length > 0 || deps.subscribers.ofPeer(id).length > 0);
    const peers = wanted.flatMap((id) => hub?.mirror.peers().get(id) ?? []);
    if (!hub || peers.length === 0) continue;
    const views = peers.map((peer) => ({ id: peer.id, view: deps.viewOf(hub, peer) }));
    for (const feed of feeds)
      pushPeers(
        feed,
        views.map(({ view }) => view),
      );
    for (const { id, view } of views) {
      for (const feed of deps.subscribers.ofPeer(id)) feed.push({ kind: "peer", peer: view });
    }
  }
}

/** A list of any length in events of a bounded one; an empty network says so too. */
function pushPeers(
  feed: { readonly push: (event: NetworkEvent) => void },
  views: Extract<NetworkEvent, { kind: "peers" }>["peers"],
): void {
  for (let start = 0; start === 0 || start < views.length; start += PEERS_PER_EVENT) {
    feed.push({ kind: "peers", peers: views.slice(start, start + PEERS_PER_EVENT) });
  }
}

const WATCHED_MS = 1_000;
const UNWATCHED_MS = 10_000;
/** Changes of rows reach the dashboard together, a fifth of a second late at most. */
const VIEW_MS = 200;
const PEERS_PER_EVENT = 500;
