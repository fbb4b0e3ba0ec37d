import type { CountersReport, PeerId } from "@weft/protocol";
import type { Peer } from "../domain/peer.ts";
import type { LivePeer } from "../registry/live-state.ts";
import type { NetworkHub } from "./network-hub.ts";
import type { TrafficBook } from "./traffic-book.ts";

/** What is known of a static client: it has no stream, so all of it is what its gateway counted. */
export function liveClient(book: Pick<TrafficBook, "find">, client: Peer, nowMs: number): LivePeer {
  const traffic = client.gatewayPeerId === null ? undefined : book.find(client.gatewayPeerId);
  const link = traffic?.links().get(client.id);
  const reportedMs = traffic?.latest()?.atMs;
  const ageMs = link?.lastHandshakeAgeMs ?? null;
  const handshakeMs = reportedMs === undefined || ageMs === null ? null : reportedMs - ageMs;
  const isOnline = handshakeMs !== null && nowMs - handshakeMs <= SESSION_MS_MAX;
  return {
    presence: isOnline ? "online" : reportedMs === undefined ? "unknown" : "offline",
    lastSeenAt: handshakeMs === null ? client.lastSeenAt : new Date(handshakeMs),
    map: { state: "none", sequence: 0n, appliedAfterMs: null },
    rxBytes: link?.txBytes ?? client.rxBytes,
    txBytes: link?.rxBytes ?? client.txBytes,
    problems: [],
    clockSkewMs: null,
  };
}

/** Takes a node's counters; returns the static clients behind it that come or go with them. */
export function ingestCounters(
  { hub, book, nowMs }: { readonly hub: NetworkHub; readonly book: TrafficBook; readonly nowMs: number },
  node: Peer,
  report: CountersReport,
): readonly PeerId[] {
  const clients = hub.mirror.clientsOf(node.id);
  const presenceOf = (client: Peer) => liveClient(book, client, nowMs).presence;
  const before = clients.map(presenceOf);
  book.ingest(node, report, { nowMs, isMember: (id) => hub.mirror.peers().has(id) });
  return clients.filter((client, at) => presenceOf(client) !== before[at]).map(({ id }) => id);
}

/** A session ends three minutes after its handshake. */
const SESSION_MS_MAX = 180_000;
