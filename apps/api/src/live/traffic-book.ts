import type { CountersReport, NodeStatus, PeerId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { storeTraffic } from "../db/peers-repository.ts";
import type { Peer } from "../domain/peer.ts";
import { createNodeTraffic } from "../domain/traffic.ts";
import type { NodeTraffic } from "../domain/traffic.ts";

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
  /** One statement per thousand nodes; nothing when nothing moved. */
  readonly flush: () => Promise<void>;
};

type IngestContext = { readonly nowMs: number; readonly isMember: (id: PeerId) => boolean };

export function createTrafficBook(deps: {
  readonly db: Executor;
  readonly lastSeenAt: (id: PeerId) => Date | null;
}): TrafficBook {
  const nodes = new Map<PeerId, NodeTraffic>();
  const statuses = new Map<PeerId, NodeStatus>();
  const dirty = new Set<PeerId>();
  const of = (peer: Peer) => {
    const traffic = nodes.get(peer.id) ?? createNodeTraffic(peer);
    nodes.set(peer.id, traffic);
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
    },
    async flush() {
      const updates = [...dirty].flatMap((peerId) => {
        const totals = nodes.get(peerId)?.totals();
        return totals ? [{ peerId, ...totals, lastSeenAt: deps.lastSeenAt(peerId) }] : [];
      });
      dirty.clear();
      for (let start = 0; start < updates.length; start += BATCH) {
        const batch = updates.slice(start, start + BATCH);
        await storeTraffic(deps.db, batch).catch((error: unknown) => {
          // Nothing is lost: the next round writes what this one could not.
          for (const { peerId } of batch) dirty.add(peerId);
          throw error;
        });
      }
    },
  };
}

const BATCH = 1_000;
