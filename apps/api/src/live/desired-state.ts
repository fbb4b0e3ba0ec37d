import { CAPABILITY } from "@weft/protocol";
import type { FilterRule, MapDelta, MapPeer, PeerId } from "@weft/protocol";
import { filterChange } from "../domain/filter-change.ts";
import { filterKey } from "../domain/filter-key.ts";
import { namesKey } from "../domain/names.ts";
import { mapPeerFor, selfOf } from "../domain/map-content.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** What one node still has to be told. It holds ids, never content: the newest content wins when it is sent. */
export type DesiredState = {
  readonly notePeer: (id: PeerId) => void;
  readonly noteSelf: () => void;
  /** Packet rules may say something else now. */
  readonly noteFilter: () => void;
  /** Names may say something else now. */
  readonly noteNames: () => void;
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
  let arePeersDirty = false;
  const filter = createPart(() => mirror.filterOf(node), filterKey);
  const names = createPart(() => mirror.namesOf(node), namesKey);
  let isSnapshotDue = true;
  const clear = () => {
    dirty.clear();
    isSelfDirty = false;
    filter.clear();
    names.clear();
    arePeersDirty = false;
  };
  const visible = (id: PeerId) => mirror.maySee(node, id);
  const noteRules = () => {
    filter.note();
    names.note();
    arePeersDirty = true;
  };
  return {
    notePeer: (id) => void dirty.add(id),
    noteSelf: () => void (isSelfDirty = true),
    noteFilter: filter.note,
    noteNames: names.note,
    noteMembership: noteRules,
    noteRules,
    noteSnapshot: () => void (isSnapshotDue = true),
    isSnapshotDue: () => isSnapshotDue,
    isPending: () =>
      isSnapshotDue || isSelfDirty || filter.isDirty() || names.isDirty() || arePeersDirty || dirty.size > 0,
    holds: sent.has,
    noteSentAll() {
      clear();
      isSnapshotDue = false;
      sent.clear();
      for (const id of mirror.peers().keys()) if (visible(id)) sent.add(mirror.indexOf(id));
      filter.noteSent();
      names.noteSent();
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
      const [newFilter, newNames] = [filter.take(), names.take()];
      clear();
      const isEmpty = upserts.length === 0 && removals.length === 0 && !own;
      if (isEmpty && !newFilter && !newNames) return undefined;
      return {
        ...(own && { self: selfOf(mirror.network(), own) }),
        upserts,
        removals,
        ...(newFilter && filterPart(newFilter, mirror.peers().get(node)?.capabilities ?? [])),
        ...(newNames && { names: newNames.now }),
      };
    },
  };
}

/** A part of the map that is sent whole, and only when it says something else than before. */
type MapPart<T> = {
  readonly note: () => void;
  readonly isDirty: () => boolean;
  readonly clear: () => void;
  /** The node has what the part says at this moment. */
  readonly noteSent: () => void;
  /** `undefined` when the node has just this; `before` is what it has, as far as that is known. */
  readonly take: () => { readonly before: T | undefined; readonly now: T } | undefined;
};

/** Who came into a group or left it is less to say than who is in it. */
function filterPart(
  { before, now }: { readonly before: readonly FilterRule[] | undefined; readonly now: readonly FilterRule[] },
  capabilities: readonly string[],
): Pick<MapDelta, "filter" | "filterSets"> {
  const takesChanges = before && capabilities.includes(CAPABILITY.filterSetChanges);
  const filterSets = takesChanges ? filterChange(before, now) : undefined;
  return filterSets ? { filterSets } : { filter: now };
}

function createPart<T>(current: () => T, keyOf: (value: T) => string): MapPart<T> {
  let state: "clean" | "dirty" = "clean";
  let sent: { readonly key: string; readonly value: T } | undefined;
  const read = () => {
    const value = current();
    return { key: keyOf(value), value };
  };
  return {
    note: () => void (state = "dirty"),
    isDirty: () => state === "dirty",
    clear: () => void (state = "clean"),
    noteSent: () => void (sent = read()),
    take() {
      if (state === "clean") return undefined;
      const [before, now] = [sent, read()];
      if (now.key === before?.key) return undefined;
      sent = now;
      return { before: before?.value, now: now.value };
    },
  };
}
