import type { PublicKey } from "@weft/protocol";
import type { TunnelPeer } from "../tunnel.ts";
import { createPeer, type Peer } from "./peer.ts";

/** Peers by key and by the engine's slot number. */
export type PeerTable = {
  readonly add: (desired: TunnelPeer) => Peer;
  readonly remove: (peer: Peer) => void;
  readonly get: (key: PublicKey) => Peer | undefined;
  readonly at: (slot: number) => Peer | undefined;
  readonly keys: () => Iterable<PublicKey>;
  readonly all: () => Iterable<Peer>;
  readonly size: () => number;
};

/** `peersMax` is a promise of the caller: it never adds more. */
export function createPeerTable(peersMax: number): PeerTable {
  const byKey = new Map<PublicKey, Peer>();
  const bySlot: (Peer | undefined)[] = [];
  const freeSlots: number[] = [];
  return {
    add(desired) {
      const slot = freeSlots.pop() ?? bySlot.length;
      if (slot >= peersMax) throw new Error(`the caller promised at most ${peersMax} peers`);
      const peer = createPeer(slot, desired);
      byKey.set(peer.publicKey, peer);
      bySlot[slot] = peer;
      return peer;
    },
    remove(peer) {
      byKey.delete(peer.publicKey);
      bySlot[peer.slot] = undefined;
      freeSlots.push(peer.slot);
    },
    get: (key) => byKey.get(key),
    at: (slot) => bySlot[slot],
    keys: () => byKey.keys(),
    all: () => byKey.values(),
    size: () => byKey.size,
  };
}
