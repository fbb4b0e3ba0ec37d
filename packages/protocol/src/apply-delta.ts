import { filterAfter } from "./filter-change.ts";
import type { MapDelta, NetworkMap } from "./network-map.ts";

/** The map after a delta; the order of untouched peers stays. */
export function applyDelta(map: NetworkMap, delta: MapDelta): NetworkMap {
  const upserts = new Map(delta.upserts.map((peer) => [peer.id, peer]));
  const removals = new Set(delta.removals);
  const kept = map.peers
    .filter((peer) => !removals.has(peer.id))
    .map((peer) => {
      const newer = upserts.get(peer.id);
      upserts.delete(peer.id);
      return newer ?? peer;
    });
  const added = [...upserts.values()].filter((peer) => !removals.has(peer.id));
  const names = delta.names === undefined ? map.names : delta.names;
  return {
    self: delta.self ?? map.self,
    peers: [...kept, ...added],
    filter: filterAfter(map.filter, delta),
    ...(names && { names }),
  };
}
