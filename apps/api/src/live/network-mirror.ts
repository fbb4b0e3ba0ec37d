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
  /** A small number for a peer, for bit sets; given to another one only after `forgetUnused` found it unused. */
  readonly indexOf: (id: PeerId) => number;
  readonly makeSet: () => BitSet;
  readonly replace: (contents: NetworkContents) => void;
  readonly follow: (changes: ChangesSince) => void;
  /**
   * Frees the numbers of peers that are gone and that no set holds any more. It looks only when many have come since the
   * last time, so that numbers and sets stay in proportion to the members.
   */
  readonly forgetUnused: (isUsed: (index: number) => boolean) => void;
};

export function createNetworkMirror(contents: NetworkContents, nowMs: number): NetworkMirror {
  let { network } = contents;
  let policy = compilePolicy(contents.rules);
  let peers = new Map(contents.peers.map((peer) => [peer.id, peer]));
  let changedAtMs = nowMs;
  const indexes = createIndexes();
  return {
    network: () => network,
    policy: () => policy,
    peers: () => peers,
    changedAtMs: () => changedAtMs,
    indexOf: indexes.of,
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
    forgetUnused: (isUsed) => indexes.forgetUnused({ isUsed, members: peers }),
  };
}

type Indexes = {
  readonly of: (id: PeerId) => number;
  readonly forgetUnused: (context: {
    readonly isUsed: (index: number) => boolean;
    readonly members: ReadonlyMap<PeerId, Peer>;
  }) => void;
};

function createIndexes(): Indexes {
  const given = new Map<PeerId, number>();
  const free: number[] = [];
  let nextIndex = 0;
  let dueAt = INDEXES_UNSEEN;
  return {
    of(id) {
      const known = given.get(id);
      if (known !== undefined) return known;
      const index = free.pop() ?? nextIndex++;
      given.set(id, index);
      return index;
    },
    forgetUnused({ isUsed, members }) {
      if (given.size < dueAt) return;
      for (const [id, index] of given) {
        if (members.has(id) || isUsed(index)) continue;
        given.delete(id);
        free.push(index);
      }
      dueAt = given.size + Math.max(INDEXES_UNSEEN, members.size / 4);
    },
  };
}

/** So many new numbers, or a quarter of the members, are given before unused ones are looked for. */
const INDEXES_UNSEEN = 64;
