import type { CountersReport, NetworkId, NodeStatus, PeerId, RandomBytes } from "@weft/protocol";
import type { Database } from "../db/client.ts";
import { readNetwork } from "../db/changes-repository.ts";
import type { Peer } from "../domain/peer.ts";
import { chooseEndpoints, sameEndpoints } from "../domain/endpoints.ts";
import { createPresenceBook } from "../domain/presence.ts";
import type { PresenceBook } from "../domain/presence.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { AttachedStream } from "./attached-stream.ts";
import { ingestCounters } from "./client-presence.ts";
import { createDashboardFeeds } from "./dashboard-feeds.ts";
import type { DashboardFeeds } from "./dashboard-feeds.ts";
import { createEndpointRecorder } from "./endpoint-recorder.ts";
import type { EndpointRecorder } from "./endpoint-recorder.ts";
import { createFlowBook } from "./flow-book.ts";
import type { FlowBook } from "./flow-book.ts";
import { refusalFor } from "./handshake.ts";
import { createMapEncoder } from "./map-encoder.ts";
import { createNetworkHub } from "./network-hub.ts";
import type { NetworkHub } from "./network-hub.ts";
import { createNodeJobs } from "./node-jobs.ts";
import type { NodeJobs } from "./node-jobs.ts";
import { createRuleBook } from "./rule-book.ts";
import type { RuleBook } from "./rule-book.ts";
import type { ServerIdentity } from "./server-identity.ts";
import { createTrafficBook } from "./traffic-book.ts";
import type { TrafficBook } from "./traffic-book.ts";

export type LiveHubDeps = {
  readonly database: Database;
  readonly identity: ServerIdentity;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly onError: (event: string, error: unknown) => void;
};

/** Everything live: networks in memory, streams, presence, counters, dashboards. */
export type LiveHub = {
  readonly presence: PresenceBook<PeerId>;
  readonly traffic: TrafficBook;
  readonly flows: FlowBook;
  readonly rules: RuleBook;
  readonly feeds: DashboardFeeds;
  readonly jobs: NodeJobs;
  readonly endpoints: EndpointRecorder;
  readonly networks: ReadonlyMap<NetworkId, NetworkHub>;
  readonly find: (id: PeerId) => { readonly hub: NetworkHub; readonly peer: Peer } | undefined;
  /** Reads a network from the database, or what changed in it. */
  readonly catchUp: (id: NetworkId) => Promise<NetworkHub | undefined>;
  readonly opened: (hub: NetworkHub, stream: AttachedStream, mode: "resume" | "snapshot") => void;
  readonly closed: (hub: NetworkHub, stream: AttachedStream, how: "bye" | "broken") => void;
  readonly noteStatus: (source: NodeSource, status: NodeStatus) => void;
  readonly noteCounters: (source: NodeSource, report: CountersReport) => void;
  readonly noteApplied: (hub: NetworkHub, stream: AttachedStream, sequence: bigint) => void;
  readonly dispose: () => Promise<void>;
};

type NodeSource = { readonly hub: NetworkHub; readonly peerId: PeerId; readonly address: string };

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  const { clock } = deps;
  const { db } = deps.database;
  const networks = new Map<NetworkId, NetworkHub>();
  const places = new Map<PeerId, NetworkHub>();
  const presence = createPresenceBook<PeerId>(clock.nowMs());
  const traffic = createTrafficBook({ db, clock, lastSeenAt: (id) => dateOf(presence.lastProofMs(id)) });
  const [flows, rules] = [createFlowBook(db), createRuleBook(db)];
  const find = (id: PeerId) => {
    const hub = places.get(id);
    const peer = hub?.mirror.peers().get(id);
    return hub && peer && { hub, peer };
  };
  const feeds = createDashboardFeeds({ presence, traffic, clock, networks, find, onError: deps.onError });
  const jobs = createNodeJobs(deps.random);
  const endpoints = createEndpointRecorder({
    db,
    clock,
    onError: (error) => deps.onError("endpoints_not_stored", error),
  });
  const catchUp = createLoader(deps, { networks, places, presence, traffic, feeds });
  return {
    presence,
    traffic,
    flows,
    rules,
    feeds,
    jobs,
    endpoints,
    networks,
    find,
    catchUp,
    opened(hub, stream, mode) {
      presence.opened(stream.peerId, clock.nowMs());
      hub.attach(stream, mode);
      feeds.noteAttached(hub, stream);
    },
    closed(hub, stream, how) {
      hub.detach(stream);
      if (!hub.streams.has(stream.peerId)) jobs.lost(stream.peerId);
      // A removed peer was forgotten when it went; its stream ends a moment later.
      if (!places.has(stream.peerId)) return;
      const state = hub.mirror.peers().get(stream.peerId)?.state;
      presence.closed(stream.peerId, state && refusalFor(state) ? "bye" : how, clock.nowMs());
      traffic.noteDirty(stream.peerId);
      feeds.notePeer(hub.id, stream.peerId);
    },
    noteStatus({ hub, peerId, address }, status) {
      const peer = hub.mirror.peers().get(peerId);
      if (!peer) return;
      const noted = { ...status, clockSkewMs: skewOf(status, clock.nowMs()) };
      if (isWorthShowing(noted, traffic.statusOf(peerId))) feeds.notePeer(hub.id, peerId);
      traffic.noteStatus(peerId, noted);
      const chosen = chooseEndpoints({
        reported: status.endpoints,
        listenPort: status.listenPort,
        observed: address,
        overlayRanges: overlayRanges(hub),
      });
      if (!sameEndpoints(chosen, peer.endpoints)) endpoints.note(hub.id, peerId, chosen);
    },
    noteCounters({ hub, peerId }, report) {
      const peer = hub.mirror.peers().get(peerId);
      if (!peer) return;
      const turned = ingestCounters({ hub, book: traffic, nowMs: clock.nowMs() }, peer, report);
      for (const client of turned) feeds.notePeer(hub.id, client);
      feeds.noteCounters(hub, peerId);
    },
    noteApplied(hub, stream, sequence) {
      stream.appliedSequence = sequence;
      if (sequence === stream.sentSequence) {
        stream.appliedAfterMs = Math.max(0, clock.nowMs() - stream.sentChangeAtMs);
      }
      feeds.notePeer(hub.id, stream.peerId);
    },
    async dispose() {
      for (const part of [feeds, jobs, ...networks.values()]) part.dispose();
      for (const book of [endpoints, traffic, flows, rules]) await book.flush();
    },
  };
}

type Books = {
  readonly networks: Map<NetworkId, NetworkHub>;
  readonly places: Map<PeerId, NetworkHub>;
  readonly presence: PresenceBook<PeerId>;
  readonly traffic: TrafficBook;
  readonly feeds: DashboardFeeds;
};

/** Loads networks and follows them; one that is loading is loaded once. */
function createLoader(deps: LiveHubDeps, books: Books): LiveHub["catchUp"] {
  const { database, clock, identity } = deps;
  const encoder = createMapEncoder({ identity, clock });
  const loading = new Map<NetworkId, Promise<NetworkHub | undefined>>();
  const forgetPeer = (hub: NetworkHub, peerId: PeerId) => {
    books.places.delete(peerId);
    books.presence.forget(peerId);
    books.traffic.forget(peerId);
    books.feeds.noteRemoved(hub.id, peerId);
  };
  const load = async (id: NetworkId) => {
    const contents = await readNetwork(database.db, id);
    if (!contents) return undefined;
    const hub: NetworkHub = createNetworkHub(
      {
        db: database.db,
        encoder,
        clock,
        onError: deps.onError,
        onPeers(changed, removed) {
          for (const peerId of changed) {
            books.places.set(peerId, hub);
            books.feeds.notePeer(hub.id, peerId);
          }
          for (const peerId of removed) {
            forgetPeer(hub, peerId);
            for (const other of hub.mirror.peers().keys()) books.traffic.find(other)?.forgetLink(peerId);
          }
        },
        onGone() {
          for (const peerId of hub.mirror.peers().keys()) forgetPeer(hub, peerId);
          hub.dispose();
          books.networks.delete(id);
          books.feeds.noteGone(id);
        },
        onSent: (stream) => books.feeds.notePeer(hub.id, stream.peerId),
      },
      contents,
    );
    books.networks.set(id, hub);
    for (const peer of contents.peers) {
      books.places.set(peer.id, hub);
      books.traffic.of(peer);
    }
    return hub;
  };
  const catchUp: LiveHub["catchUp"] = async (id) => {
    const hub = books.networks.get(id);
    if (hub) {
      await hub.catchUp();
      return books.networks.get(id);
    }
    const underWay = loading.get(id);
    if (underWay) {
      await underWay;
      // That reading began before this call, so what the caller wants to see may be missing in it.
      return catchUp(id);
    }
    const started = load(id).finally(() => loading.delete(id));
    loading.set(id, started);
    return started;
  };
  return catchUp;
}

/** An agent that measures no skew still told its clock; what the message took is in it. */
function skewOf({ clockSkewMs, wallClockMs }: NodeStatus, nowMs: number): number | null {
  if (clockSkewMs !== null) return clockSkewMs;
  return wallClockMs === 0 ? null : Math.round(wallClockMs - nowMs);
}

function isWorthShowing(status: NodeStatus, before: NodeStatus | undefined): boolean {
  return status.clockSkewMs !== before?.clockSkewMs || status.problems.join("\n") !== before?.problems.join("\n");
}

function overlayRanges(hub: NetworkHub) {
  const { ipv4Range, ipv6Range } = hub.mirror.network();
  return [ipv4Range, ipv6Range].flatMap((range) => (range ? [range] : []));
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
