import type { CountersReport, NetworkId, NodeStatus, PeerId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { storeTraffic } from "../db/peers-repository.ts";
import { addTraffic } from "../db/traffic-repository.ts";
import type { TrafficGrowth } from "../db/traffic-repository.ts";
import type { Peer } from "../domain/peer.ts";
import { createNodeTraffic } from "../domain/traffic.ts";
import type { NodeTraffic, TrafficTotals } from "../domain/traffic.ts";
import type { WallClock } from "../registry/feature-deps.ts";

/** Counters of all nodes, in memory, written down in batches. */
export type TrafficBook = {
  readonly of: (peer: Peer) => NodeTraffic;
  readonly find: (id: PeerId) => NodeTraffic | undefined;
  readonly ingest: (peer: Peer, report: CountersReport, at: IngestContext) => void;
  readonly statusOf: (id: PeerId) => NodeStatus | undefined;
  readonly noteStatus: (id: PeerId, status: NodeStatus) => void;
  /** The node's totals or last proof are newer than the database's. */
  readonly noteDirty: (id: PeerId) => void;
  readonly forget: (id: PeerId) => void;
  /** Two statements per thousand nodes, both or none of them; nothing when nothing moved. */
  readonly flush: () => Promise<void>;
};

type IngestContext = { readonly nowMs: number; readonly isMember: (id: PeerId) => boolean };

export function createTrafficBook(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly lastSeenAt: (id: PeerId) => Date | null;
}): TrafficBook {
  const nodes = new Map<PeerId, NodeTraffic>();
  const statuses = new Map<PeerId, NodeStatus>();
  const dirty = new Set<PeerId>();
  /** Whose traffic it is, and how much of it the history has. */
  const written = new Map<PeerId, Written>();
  const of = (peer: Peer) => {
    const traffic = nodes.get(peer.id) ?? createNodeTraffic(peer);
    nodes.set(peer.id, traffic);
    if (!written.has(peer.id)) written.set(peer.id, { networkId: peer.networkId, ...bytesOf(traffic.totals()) });
    return traffic;
  };
  return {
    of,
    find: (id) => nodes.get(id),
    ingest(peer, report, { nowMs, isMember }) {
      const traffic = of(peer);
      const before = traffic.totals();
      traffic.ingest(report, nowMs, isMember);
      const after = traffic.totals();
      if (before.rxBytes !== after.rxBytes || before.txBytes !== after.txBytes) dirty.add(peer.id);
    },
    statusOf: (id) => statuses.get(id),
    noteStatus: (id, status) => void statuses.set(id, status),
    noteDirty: (id) => void dirty.add(id),
    forget(id) {
      nodes.delete(id);
      statuses.delete(id);
      dirty.delete(id);
      written.delete(id);
    },
    async flush() {
      const updates = [...dirty].flatMap((peerId) => {
        const totals = nodes.get(peerId)?.totals();
        return totals ? [{ peerId, ...totals, lastSeenAt: deps.lastSeenAt(peerId) }] : [];
      });
      dirty.clear();
      const at = new Date(deps.clock.nowMs());
      for (let start = 0; start < updates.length; start += BATCH) {
        const batch = updates.slice(start, start + BATCH);
        const growth = batch.flatMap((update) => takeGrowth(written, update));
        const store = async (tx: Executor) => {
          await storeTraffic(tx, batch);
          await addTraffic(tx, growth, at);
        };
        await deps.db.transaction(store).catch((error: unknown) => {
          // Nothing is lost: the next round writes what this one could not.
          for (const { peerId } of batch) dirty.add(peerId);
          for (const one of growth) giveBack(written, one);
          throw error;
        });
      }
    },
  };
}

type Bytes = Pick<TrafficTotals, "rxBytes" | "txBytes">;
type Written = Bytes & { readonly networkId: NetworkId };

function bytesOf({ rxBytes, txBytes }: Bytes): Bytes {
  return { rxBytes, txBytes };
}

/** What is new since the last call, which counts as written from here on: the next round may begin before this one ends. */
function takeGrowth(written: Map<PeerId, Written>, { peerId, rxBytes, txBytes }: Bytes & { readonly peerId: PeerId }) {
  const before = written.get(peerId);
  if (!before || (rxBytes === before.rxBytes && txBytes === before.txBytes)) return [];
  const { networkId } = before;
  written.set(peerId, { networkId, rxBytes, txBytes });
  return [{ networkId, peerId, rxBytes: rxBytes - before.rxBytes, txBytes: txBytes - before.txBytes }];
}

function giveBack(written: Map<PeerId, Written>, { peerId, rxBytes, txBytes }: TrafficGrowth): void {
  const now = written.get(peerId);
  if (now) written.set(peerId, { ...now, rxBytes: now.rxBytes - rxBytes, txBytes: now.txBytes - txBytes });
}

const BATCH = 1_000;
