import type { PeerId } from "@weft/protocol";
import type { ChangesSince, NetworkContents } from "../db/changes-repository.ts";
import { compilePolicy } from "../domain/access-policy.ts";
import type { AccessPolicy } from "../domain/access-policy.ts";
import { createBitSet } from "../domain/bit-set.ts";
import type { BitSet } from "../domain/bit-set.ts";
import type { Network, Peer } from "../domain/peer.ts";

/** A network in memory, exactly as the database had it at `network.sequence`. */
export type NetworkMirror = {
  readonly network: () => Network;
  readonly policy: () => AccessPolicy;
  readonly peers: () => ReadonlyMap<PeerId, Peer>;
  /** When the newest change was made, by the clock of the server that made it. */
  readonly changedAtMs: () => number;
  /** A small number for a peer, for bit sets; never given to another one while the server runs. */
  readonly indexOf: (id: PeerId) => number;
  readonly makeSet: () => BitSet;
  readonly replace: (contents: NetworkContents) => void;
  readonly follow: (changes: ChangesSince) => void;
};

export function createNetworkMirror(contents: NetworkContents, nowMs: number): NetworkMirror {
  let { network } = contents;
  let policy = compilePolicy(contents.rules);
  let peers = new Map(contents.peers.map((peer) => [peer.id, peer]));
  let changedAtMs = nowMs;
  const indexes = new Map<PeerId, number>();
  return {
    network: () => network,
    policy: () => policy,
    peers: () => peers,
    changedAtMs: () => changedAtMs,
    indexOf(id) {
      const index = indexes.get(id) ?? indexes.size;
      indexes.set(id, index);
      return index;
    },
    makeSet: createBitSet,
    replace(next) {
      network = next.network;
      policy = compilePolicy(next.rules);
      peers = new Map(next.peers.map((peer) => [peer.id, peer]));
    },
    follow(changes) {
      network = changes.network;
      if (changes.rules) policy = compilePolicy(changes.rules);
      if (changes.at) changedAtMs = changes.at.getTime();
      for (const [id, peer] of changes.peers) {
        if (peer) peers.set(id, peer);
        else peers.delete(id);
      }
    },
  };
}
