import type { MapDelta, MapPeer, PeerId } from "@weft/protocol";
import { filterFor, maySee } from "../domain/access-policy.ts";
import { mapPeerFor, selfOf } from "../domain/map-content.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** What one node still has to be told. It holds ids, never content: the newest content wins when it is sent. */
export type DesiredState = {
  readonly notePeer: (id: PeerId) => void;
  readonly noteSelf: () => void;
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
  let areRulesDirty = false;
  let isSnapshotDue = true;
  const clear = () => {
    dirty.clear();
    isSelfDirty = false;
    areRulesDirty = false;
  };
  const visible = (id: PeerId) => mirror.peers().get(id)?.state === "active" && maySee(mirror.policy(), node, id);
  return {
    notePeer: (id) => void dirty.add(id),
    noteSelf: () => void (isSelfDirty = true),
    noteRules: () => void (areRulesDirty = true),
    noteSnapshot: () => void (isSnapshotDue = true),
    isSnapshotDue: () => isSnapshotDue,
    isPending: () => isSnapshotDue || isSelfDirty || areRulesDirty || dirty.size > 0,
    holds: sent.has,
    noteSentAll() {
      clear();
      isSnapshotDue = false;
      sent.clear();
      for (const id of mirror.peers().keys()) if (visible(id)) sent.add(mirror.indexOf(id));
    },
    takeDelta() {
      const candidates = areRulesDirty ? new Set([...dirty, ...mirror.peers().keys()]) : dirty;
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
      const filter = areRulesDirty ? filterFor(mirror.policy()) : undefined;
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
