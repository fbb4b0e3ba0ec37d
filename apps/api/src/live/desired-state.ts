import type { MapDelta, MapPeer, PeerId } from "@weft/protocol";
import { filterKey } from "../domain/access-policy.ts";
import { mapPeerFor, selfOf } from "../domain/map-content.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** What one node still has to be told. It holds ids, never content: the newest content wins when it is sent. */
export type DesiredState = {
  readonly notePeer: (id: PeerId) => void;
  readonly noteSelf: () => void;
  /** Packet rules may say something else now. */
  readonly noteFilter: () => void;
  /** The node belongs to other groups now: everything visible must be compared. */
  readonly noteMembership: () => void;
  /** The rules changed: everything visible must be compared. */
  readonly noteRules: () => void;
  readonly noteSnapshot: () => void;
  readonly isSnapshotDue: () => boolean;
  readonly isPending: () => boolean;
  /** The node runs on the map of this moment; it was sent, or confirmed when the node came back. */
  readonly noteSentAll: () => void;
  /** Whether the node was told of the peer with this index, and not yet that it is gone. */
  readonly holds: (index: number) => boolean;
  /** Takes everything pending as one delta; `undefined` when nothing of it concerns the node any more. */
  readonly takeDelta: () => MapDelta | undefined;
};

/** Remembers exactly what its node was sent, so that removals are exact too. */
export function createDesiredState(mirror: NetworkMirror, node: PeerId): DesiredState {
  const sent = mirror.makeSet();
  const dirty = new Set<PeerId>();
  let isSelfDirty = false;
  let isFilterDirty = false;
  let arePeersDirty = false;
  let sentFilter: string | undefined;
  let isSnapshotDue = true;
  const clear = () => {
    dirty.clear();
    isSelfDirty = false;
    isFilterDirty = false;
    arePeersDirty = false;
  };
  const visible = (id: PeerId) => mirror.maySee(node, id);
  const noteRules = () => {
    isFilterDirty = true;
    arePeersDirty = true;
  };
  /** The packet rules, unless the node has just these. */
  const takeFilter = () => {
    const filter = mirror.filterOf(node);
    const key = filterKey(filter);
    if (key === sentFilter) return undefined;
    sentFilter = key;
    return filter;
  };
  return {
    notePeer: (id) => void dirty.add(id),
    noteSelf: () => void (isSelfDirty = true),
    noteFilter: () => void (isFilterDirty = true),
    noteMembership: noteRules,
    noteRules,
    noteSnapshot: () => void (isSnapshotDue = true),
    isSnapshotDue: () => isSnapshotDue,
    isPending: () => isSnapshotDue || isSelfDirty || isFilterDirty || arePeersDirty || dirty.size > 0,
    holds: sent.has,
    noteSentAll() {
      clear();
      isSnapshotDue = false;
      sent.clear();
      for (const id of mirror.peers().keys()) if (visible(id)) sent.add(mirror.indexOf(id));
      sentFilter = filterKey(mirror.filterOf(node));
    },
    takeDelta() {
      const candidates = arePeersDirty ? new Set([...dirty, ...mirror.peers().keys()]) : dirty;
      const upserts: MapPeer[] = [];
      const removals: PeerId[] = [];
      for (const id of candidates) {
        const index = mirror.indexOf(id);
        const peer = visible(id) ? mirror.peers().get(id) : undefined;
        if (peer && (dirty.has(id) || !sent.has(index))) {
          upserts.push(mapPeerFor(mirror.peers().get(node), peer));
          sent.add(index);
        } else if (!peer && sent.has(index)) {
          removals.push(id);
          sent.remove(index);
        }
      }
      const own = isSelfDirty ? mirror.peers().get(node) : undefined;
      const filter = isFilterDirty ? takeFilter() : undefined;
      clear();
      if (upserts.length === 0 && removals.length === 0 && !own && !filter) return undefined;
      return {
        ...(own && { self: selfOf(mirror.network(), own) }),
        upserts,
        removals,
        ...(filter && { filter }),
      };
    },
  };
}
