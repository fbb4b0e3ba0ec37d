import type { Tunnel, TunnelError, TunnelSelf } from "@weft/dataplane";
import {
  applyDelta,
  err,
  ok,
  type ApplyError,
  type MapDelta,
  type MapPeer,
  type MapSelf,
  type NetworkMap,
  type PeerId,
  type PublicKey,
  type Result,
} from "@weft/protocol";

import { tunnelPeer, tunnelSelf } from "./map-to-tunnel.ts";

/** Makes the tunnel for the node's own settings. */
export type MakeTunnel = (self: TunnelSelf, map: MapSelf) => Result<Tunnel, TunnelError>;

/** Keeps the tunnel equal to the newest map. */
export type MapSync = {
  /** Makes the tunnel at the first map; later calls change what differs. Returns what could not be applied. */
  readonly applyMap: (map: NetworkMap) => readonly ApplyError[];
  /** Applies a change at the cost of the change. */
  readonly applyChange: (delta: MapDelta) => readonly ApplyError[];
  readonly map: () => NetworkMap | null;
  readonly tunnel: () => Tunnel | null;
  readonly peerByKey: (key: PublicKey) => MapPeer | null;
  /** Makes the tunnel anew, after a fatal fault or when it could not be made before; the map stays. */
  readonly rebuild: () => readonly ApplyError[];
  /** Removes the tunnel and forgets the map. */
  readonly close: () => void;
};

export function createMapSync(makeTunnel: MakeTunnel): MapSync {
  let map: NetworkMap | null = null;
  let tunnel: Tunnel | null = null;
  const peersById = new Map<PeerId, MapPeer>();
  const peersByKey = new Map<PublicKey, MapPeer>();

  const remember = (peer: MapPeer): void => {
    const before = peersById.get(peer.id);
    if (before && before.publicKey !== peer.publicKey) peersByKey.delete(before.publicKey);
    peersById.set(peer.id, peer);
    peersByKey.set(peer.publicKey, peer);
  };
  const forget = (id: PeerId): void => {
    const gone = peersById.get(id);
    peersById.delete(id);
    if (gone) peersByKey.delete(gone.publicKey);
  };
  const rememberAll = (peers: readonly MapPeer[]): void => {
    peersById.clear();
    peersByKey.clear();
    for (const peer of peers) remember(peer);
  };

  /** Makes the tunnel for the present map, empty as it is new, then fills it. */
  const build = (present: NetworkMap): ApplyError[] => {
    const made = makeTunnel(tunnelSelf(present.self), present.self);
    if (!made.ok) return [{ object: "tunnel", detail: made.error.message }];
    tunnel = made.value;
    return fill(made.value, present);
  };
  const applyMap = (next: NetworkMap): ApplyError[] => {
    const before = map;
    map = next;
    rememberAll(next.peers);
    if (!tunnel || !before) return build(next);
    return [...problems("self", changeSelf(tunnel, before.self, next.self)), ...fill(tunnel, next)];
  };

  return {
    applyMap,
    rebuild() {
      tunnel?.close();
      tunnel = null;
      return map ? build(map) : [];
    },
    applyChange(delta) {
      if (!map) return [{ object: "map", detail: "a change came before the first map" }];
      const before = map;
      const after = applyDelta(before, delta);
      const replaced = delta.upserts.flatMap((peer) => {
        const known = peersById.get(peer.id);
        return known && known.publicKey !== peer.publicKey ? [known.publicKey] : [];
      });
      const removed = delta.removals.flatMap((id) => peersById.get(id)?.publicKey ?? []);
      map = after;
      delta.removals.forEach(forget);
      delta.upserts.forEach(remember);
      if (!tunnel) return build(after);
      return [
        ...(delta.self ? problems("self", changeSelf(tunnel, before.self, delta.self)) : []),
        ...(delta.filter ? problems("filter", tunnel.replaceFilter(delta.filter)) : []),
        ...(delta.upserts.length + delta.removals.length > 0
          ? problems(
              "peers",
              tunnel.changePeers({
                upserts: delta.upserts.map((peer) => tunnelPeer(peer, after.self)),
                removals: [...replaced, ...removed],
              }),
            )
          : []),
      ];
    },
    map: () => map,
    tunnel: () => tunnel,
    peerByKey: (key) => peersByKey.get(key) ?? null,
    close() {
      tunnel?.close();
      tunnel = null;
      map = null;
      rememberAll([]);
    },
  };
}

function fill(tunnel: Tunnel, map: NetworkMap): ApplyError[] {
  return [
    ...problems("filter", tunnel.replaceFilter(map.filter)),
    ...problems("peers", tunnel.replacePeers(map.peers.map((peer) => tunnelPeer(peer, map.self)))),
  ];
}

/** Re-addresses where something differs; a refused change leaves the old settings (AP-51). */
function changeSelf(tunnel: Tunnel, before: MapSelf, after: MapSelf): Result<void, TunnelError> {
  const old = tunnelSelf(before);
  const wanted = tunnelSelf(after);
  if (JSON.stringify(old) === JSON.stringify(wanted)) return ok(undefined);
  const changed = tunnel.replaceSelf(wanted);
  if (changed.ok) return changed;
  const restored = tunnel.replaceSelf(old);
  const state = restored.ok
    ? "the old settings stay"
    : `and the old settings did not come back: ${restored.error.message}`;
  return err({ ...changed.error, message: `${changed.error.message}; ${state}` });
}

function problems(object: string, result: Result<void, TunnelError>): ApplyError[] {
  return result.ok ? [] : [{ object, detail: result.error.message.slice(0, 500) }];
}
