import type { NodeStatus, PeerId } from "@weft/protocol";
import { exitTrouble } from "../domain/exit-trouble.ts";
import type { Peer } from "../domain/peer.ts";
import type { PresenceBook } from "../domain/presence.ts";
import type { NodeTraffic } from "../domain/traffic.ts";
import type { NetworkEvent, PeerEvent } from "../registry/live-events.ts";
import type { LivePeer } from "../registry/live-state.ts";
import type { AttachedStream } from "./attached-stream.ts";
import type { NetworkHub } from "./network-hub.ts";
import type { NetworkMirror } from "./network-mirror.ts";
import type { TrafficBook } from "./traffic-book.ts";

/** What memory holds of a peer. */
export type KnownPeer = {
  readonly presence: PresenceBook<PeerId>;
  readonly traffic: NodeTraffic | undefined;
  readonly status: NodeStatus | undefined;
  /** The peer that was chosen as exit node, if it is still there. */
  readonly exit: Peer | undefined;
};

export function knownOf(
  books: { readonly presence: PresenceBook<PeerId>; readonly traffic: Pick<TrafficBook, "find" | "statusOf"> },
  { mirror }: { readonly mirror: Pick<NetworkMirror, "peers"> },
  peer: Peer,
): KnownPeer {
  return {
    presence: books.presence,
    traffic: books.traffic.find(peer.id),
    status: books.traffic.statusOf(peer.id),
    exit: peer.exitChoice ? mirror.peers().get(peer.exitChoice.peerId) : undefined,
  };
}

/** What memory knows about a peer beside its row. */
export function livePeer(
  known: KnownPeer,
  peer: Peer,
  place: { readonly stream: AttachedStream | undefined; readonly nowMs: number },
): LivePeer {
  const proofMs = known.presence.lastProofMs(peer.id);
  const totals = known.traffic?.totals() ?? peer;
  return {
    presence: known.presence.stateOf(peer.id, place.nowMs),
    lastSeenAt: proofMs === undefined ? peer.lastSeenAt : new Date(proofMs),
    map: mapProgress(place.stream),
    rxBytes: totals.rxBytes,
    txBytes: totals.txBytes,
    // What a node said last is no proof once its stream is gone.
    problems: problemsOf(peer, known.exit, place.stream && known.status ? known.status.problems : []),
    clockSkewMs: place.stream && known.status ? known.status.clockSkewMs : null,
  };
}

/** Of an exit node the server knows more than the node that cannot use it. */
function problemsOf(peer: Peer, exit: Peer | undefined, reported: readonly string[]): readonly string[] {
  const trouble = exitTrouble(peer, exit);
  return trouble === null ? reported : [trouble, ...reported.filter((problem) => !problem.startsWith("exit:"))];
}

function mapProgress(stream: AttachedStream | undefined): LivePeer["map"] {
  if (!stream) return { state: "none", sequence: 0n, appliedAfterMs: null };
  const isApplied = stream.appliedSequence === stream.sentSequence && !stream.desired.isPending();
  return {
    state: isApplied ? "applied" : "pending",
    sequence: stream.sentSequence,
    appliedAfterMs: isApplied ? stream.appliedAfterMs : null,
  };
}

/** One step of a network's chart: every node that moves, and those that just stopped. */
export function networkSample(
  hub: { readonly mirror: Pick<NetworkMirror, "peers"> },
  book: Pick<TrafficBook, "find">,
  step: { readonly nowMs: number; readonly wereMoving: Set<PeerId> },
): Extract<NetworkEvent, { kind: "sample" }> {
  const sum = { rxBitsPerSecond: 0, txBitsPerSecond: 0 };
  const peers = [...hub.mirror.peers().keys()].flatMap((peerId) => {
    const traffic = book.find(peerId);
    if (!traffic) return [];
    const { rxBitsPerSecond, txBitsPerSecond } = traffic.rates(step.nowMs);
    const isMoving = rxBitsPerSecond > 0 || txBitsPerSecond > 0;
    const hasStopped = !isMoving && step.wereMoving.delete(peerId);
    if (isMoving) step.wereMoving.add(peerId);
    if (!isMoving && !hasStopped) return [];
    sum.rxBitsPerSecond += rxBitsPerSecond;
    sum.txBitsPerSecond += txBitsPerSecond;
    const { rxBytes, txBytes } = traffic.totals();
    return [{ peerId, rxBitsPerSecond, txBitsPerSecond, rxBytes: String(rxBytes), txBytes: String(txBytes) }];
  });
  return { kind: "sample", atMs: step.nowMs, peers, totals: sum };
}

/** One step of a peer's page, as its node reported last. */
export function peerSample(hub: NetworkHub, book: TrafficBook, peerId: PeerId): PeerEvent | undefined {
  const traffic = book.find(peerId);
  const latest = traffic?.latest();
  if (!traffic || !latest) return undefined;
  const { rxBitsPerSecond, txBitsPerSecond } = traffic.rates(latest.atMs);
  const totals = traffic.totals();
  const links = [...traffic.links()].flatMap(([id, link]) => {
    const other = hub.mirror.peers().get(id);
    // Agents may still count a peer that was removed a moment ago.
    if (!other) return [];
    return [
      {
        peerId: id,
        name: other.name,
        rxBitsPerSecond: link.rxBitsPerSecond,
        txBitsPerSecond: link.txBitsPerSecond,
        rxBytes: String(link.rxBytes),
        txBytes: String(link.txBytes),
        endpoint: link.endpoint,
        sessionAgeSeconds: seconds(link.sessionAgeMs),
        lastHandshakeAgeSeconds: seconds(link.lastHandshakeAgeMs),
        drops: texts(link.drops),
      },
    ];
  });
  return {
    kind: "sample",
    atMs: latest.atMs,
    rxBitsPerSecond,
    txBitsPerSecond,
    rxBytes: String(totals.rxBytes),
    txBytes: String(totals.txBytes),
    links,
    drops: texts(latest.drops),
    stages: [...latest.stages],
    offload: [...(book.statusOf(peerId)?.offloads ?? [])],
    cpuPercent: latest.cpuPercent,
    rssBytes: latest.rssBytes,
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000;
}

function texts(counters: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, String(value)]));
}
