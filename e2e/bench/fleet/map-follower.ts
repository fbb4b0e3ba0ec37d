import { verify, type KeyObject } from "node:crypto";
import { inflateRawSync } from "node:zlib";

import {
  createMapAssembler,
  decodeDeltaBody,
  decodeMapBody,
  deltaSigningBytes,
  filterAfter,
  mapSigningBytes,
  type DeltaFrame,
  type FilterRule,
  type MapDelta,
  type MapTransfer,
  type MapVersion,
  type PeerId,
  type ServerFrame,
} from "@weft/protocol";

import { must } from "./node-identity.ts";

/** What became of a frame of the map stream. */
export type Followed =
  | { readonly kind: "applied"; readonly version: MapVersion; readonly added: readonly PeerId[] }
  | { readonly kind: "need" }
  | { readonly kind: "nothing" };

/**
 * Follows one map as an agent does: order, hashes, signatures, changes on top of a snapshot. It keeps ids and rules only,
 * because a thousand followers live in one process, and reads a snapshot when it is first needed.
 */
export type MapFollower = {
  readonly handle: (frame: ServerFrame) => Followed;
  readonly version: () => MapVersion | undefined;
  readonly peerIds: () => ReadonlySet<PeerId>;
  readonly filter: () => readonly FilterRule[];
  /** Bytes of the last whole map as it came. */
  readonly snapshotBytes: () => number;
};

/** Nodes that are told the same get the same bytes: what a thousand hosts would do at a time, one process does once. */
export type SharedWork = {
  readonly read: (frame: DeltaFrame, serverKey: KeyObject) => MapDelta;
  readonly filterAfter: typeof filterAfter;
};

export function createSharedWork(): SharedWork {
  const known = new Map<string, MapDelta>();
  const filters = new WeakMap<readonly FilterRule[], WeakMap<object, readonly FilterRule[]>>();
  return {
    read(frame, serverKey) {
      const key = Buffer.from(frame.signature).toString("latin1");
      const before = known.get(key);
      if (before) return before;
      if (!verify(null, deltaSigningBytes(frame), serverKey, frame.signature)) throw new Error("a wrong signature");
      const delta = must(decodeDeltaBody(frame.body));
      if (known.size > SHARED_MAX) known.clear();
      known.set(key, delta);
      return delta;
    },
    filterAfter(filter, delta) {
      const row = filters.get(filter) ?? new WeakMap<object, readonly FilterRule[]>();
      filters.set(filter, row);
      const after = row.get(delta) ?? filterAfter(filter, delta);
      row.set(delta, after);
      return after;
    },
  };
}

export function createMapFollower(serverKey: () => KeyObject, shared: SharedWork): MapFollower {
  const assembler = createMapAssembler();
  let unread: MapTransfer | undefined;
  let version: MapVersion | undefined;
  let ids = new Set<PeerId>();
  let filter: readonly FilterRule[] = [];
  let snapshotBytes = 0;
  const read = () => {
    if (!unread) return;
    const body = unread.compression === "deflate" ? inflateRawSync(unread.bytes) : unread.bytes;
    if (!verify(null, mapSigningBytes({ ...unread, body }), serverKey(), unread.signature))
      throw new Error("the signature of a map is wrong");
    unread = undefined;
    const map = must(decodeMapBody(body));
    ids = new Set(map.peers.map(({ id }) => intern(id)));
    ({ filter } = map);
  };
  const applyDelta = (frame: DeltaFrame): Followed => {
    if (!version || version.epoch !== frame.epoch || version.sequence !== frame.baseSequence) return { kind: "need" };
    const delta = shared.read(frame, serverKey());
    read();
    for (const id of delta.removals) ids.delete(id);
    const added = delta.upserts.map(({ id }) => intern(id));
    for (const id of added) ids.add(id);
    filter = shared.filterAfter(filter, delta);
    version = { epoch: frame.epoch, sequence: frame.sequence };
    return { kind: "applied", version, added };
  };
  return {
    handle(frame) {
      switch (frame.kind) {
        case "mapBegin":
          must(assembler.begin(frame));
          return NOTHING;
        case "mapPart":
          must(assembler.part(frame));
          return NOTHING;
        case "mapEnd":
          unread = must(assembler.end(frame));
          snapshotBytes = unread.bytes.length;
          version = { epoch: unread.epoch, sequence: unread.sequence };
          return { kind: "applied", version, added: [] };
        case "delta":
          return applyDelta(frame);
        default:
          return NOTHING;
      }
    },
    version: () => version,
    peerIds() {
      read();
      return ids;
    },
    filter() {
      read();
      return filter;
    },
    snapshotBytes: () => snapshotBytes,
  };
}

/** One string per id in the whole process. */
function intern(id: PeerId): PeerId {
  const known = INTERNED.get(id);
  if (known !== undefined) return known;
  INTERNED.set(id, id);
  return id;
}

const INTERNED = new Map<PeerId, PeerId>();
const NOTHING = { kind: "nothing" } as const;
const SHARED_MAX = 5_000;
