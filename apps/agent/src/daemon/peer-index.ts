import type { MapDelta, MapPeer, PeerId, PublicKey } from "@weft/protocol";

/** The peers of a map by id and by key; a change costs what it changes. */
export type PeerIndex = {
  readonly replace: (peers: readonly MapPeer[]) => void;
  /** Takes a change over and returns the keys that no peer has any more. */
  readonly change: (delta: Pick<MapDelta, "upserts" | "removals">) => PublicKey[];
  readonly byKey: (key: PublicKey) => MapPeer | null;
  readonly byId: (id: PeerId) => MapPeer | null;
  /** Static clients that are reached through a peer. */
  readonly clientsOf: (gateway: PeerId) => readonly MapPeer[];
  /** Those with networks behind them. */
  readonly routers: () => MapPeer[];
  /** In the order in which they came. */
  readonly all: () => MapPeer[];
};

export function createPeerIndex(): PeerIndex {
  const byId = new Map<PeerId, MapPeer>();
  const byKey = new Map<PublicKey, MapPeer>();
  const routers = new Map<PeerId, MapPeer>();
  const clients = new Map<PeerId, Map<PeerId, MapPeer>>();
  const putClient = (peer: MapPeer): void => {
    if (!peer.gateway) return;
    const own = clients.get(peer.gateway) ?? new Map<PeerId, MapPeer>();
    clients.set(peer.gateway, own.set(peer.id, peer));
  };
  const put = (peer: MapPeer): void => {
    byId.set(peer.id, peer);
    byKey.set(peer.publicKey, peer);
    putClient(peer);
    if (peer.routes.length > 0) routers.set(peer.id, peer);
    else routers.delete(peer.id);
  };
  const drop = (id: PeerId): PublicKey[] => {
    const known = byId.get(id);
    if (!known) return [];
    byKey.delete(known.publicKey);
    if (known.gateway) clients.get(known.gateway)?.delete(id);
    return [known.publicKey];
  };
  return {
    replace(peers) {
      byId.clear();
      byKey.clear();
      routers.clear();
      clients.clear();
      peers.forEach(put);
    },
    change({ upserts, removals }) {
      const gone = [...removals, ...upserts.map((peer) => peer.id)].flatMap(drop);
      for (const id of removals) {
        byId.delete(id);
        routers.delete(id);
      }
      upserts.forEach(put);
      return gone.filter((key) => !byKey.has(key));
    },
    byKey: (key) => byKey.get(key) ?? null,
    byId: (id) => byId.get(id) ?? null,
    clientsOf: (gateway) => [...(clients.get(gateway)?.values() ?? [])],
    routers: () => [...routers.values()],
    all: () => [...byId.values()],
  };
}
