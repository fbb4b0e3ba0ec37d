import type { ChangesSince, NetworkContents } from "../db/changes-repository.ts";
import type { FilterRule, MapNames, PeerId } from "@weft/protocol";
import { compilePolicy, createFilters, exitRules } from "../domain/access-policy.ts";
import type { AccessPolicy, PolicyFilters } from "../domain/access-policy.ts";
import type { PeerChange } from "../domain/affected-nodes.ts";
import { createBitSet } from "../domain/bit-set.ts";
import type { BitSet } from "../domain/bit-set.ts";
import { createGateways, isInMap } from "../domain/gateways.ts";
import type { Gateways } from "../domain/gateways.ts";
import { addressesOutside } from "../domain/outside.ts";
import { mapPeerOf } from "../domain/map-content.ts";
import { createNamer } from "../domain/names.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { transitRules } from "../domain/transit-rules.ts";

/** A change of a peer, followed. */
export type FollowedChange = {
  readonly change: PeerChange;
  readonly touched: ReadonlySet<number>;
  /** "touched": a record points at the peer, so it may have to be shown to others now. */
  readonly records: "same" | "touched";
};

/** A network in memory, exactly as the database had it at `network.sequence`. */
export type NetworkMirror = {
  readonly network: () => Network;
  readonly policy: () => AccessPolicy;
  readonly filters: () => PolicyFilters;
  readonly peers: () => ReadonlyMap<PeerId, Peer>;
  /** Static clients behind a node that take part. */
  readonly clientsOf: Gateways["clientsOf"];
  /** True when both take part and a node of the first has the second in its map: see `isInMap`. */
  readonly maySee: (viewer: PeerId, other: PeerId) => boolean;
  /** Packet rules of a member. */
  readonly filterOf: (node: PeerId) => readonly FilterRule[];
  /** Names for a member; `null` when they are off. */
  readonly namesOf: (node: PeerId) => MapNames | null;
  /** When the newest change was made, by the clock of the server that made it. */
  readonly changedAtMs: () => number;
  /** A small number for a peer, for bit sets; given to another one only after `forgetUnused` found it unused. */
  readonly indexOf: (id: PeerId) => number;
  readonly makeSet: () => BitSet;
  readonly replace: (contents: NetworkContents) => void;
  /** Tells what each named peer was and is, and which selectors of the rules have other addresses with it. */
  readonly follow: (changes: ChangesSince) => readonly FollowedChange[];
  /**
   * Frees the numbers of peers that are gone and that no set holds any more. It looks only when many have come since the
   * last time, so that numbers and sets stay in proportion to the members.
   */
  readonly forgetUnused: (isUsed: (index: number) => boolean) => void;
};

export function createNetworkMirror(contents: NetworkContents, nowMs: number): NetworkMirror {
  let { network } = contents;
  let peers = new Map(contents.peers.map((peer) => [peer.id, peer]));
  const members = () => peers.values();
  let policy = compilePolicy(contents.rules);
  let filters = createFilters(policy, members);
  let namer = createNamer(contents.names, members);
  let gateways = createGateways(members());
  let changedAtMs = nowMs;
  const maySeeNow = (viewer: PeerId, other: PeerId): boolean => {
    const [left, right] = [peers.get(viewer), peers.get(other)];
    return (
      left?.state === "active" &&
      right?.state === "active" &&
      isInMap({ policy, clientsOf: gateways.clientsOf }, left, right)
    );
  };
  const indexes = createIndexes();
  const withExit = (peer: Peer, filter: readonly FilterRule[]): readonly FilterRule[] => {
    const exit = peer.exitChoice && peers.get(peer.exitChoice.peerId);
    if (!exit || exit.state !== "active") return filter;
    return [...filter, ...exitRules(policy, { from: peer, exit }, addressesOutside(network))];
  };
  return {
    network: () => network,
    policy: () => policy,
    filters: () => filters,
    peers: () => peers,
    clientsOf: (gateway) => gateways.clientsOf(gateway),
    maySee: maySeeNow,
    filterOf(node) {
      const peer = peers.get(node);
      if (!peer) return [];
      const through = transitRules(policy, gateways.clientsOf(node), filters.sides);
      const own = withExit(peer, filters.of(peer));
      return through.length > 0 ? [...through, ...own] : own;
    },
    namesOf(node) {
      const peer = peers.get(node);
      return peer ? namer.of(peer, (other) => maySeeNow(node, other)) : null;
    },
    changedAtMs: () => changedAtMs,
    indexOf: indexes.of,
    makeSet: createBitSet,
    replace(next) {
      network = next.network;
      policy = compilePolicy(next.rules);
      filters = createFilters(policy, members);
      namer = createNamer(next.names, members);
      peers = new Map(next.peers.map((peer) => [peer.id, peer]));
      gateways = createGateways(members());
    },
    follow(changes) {
      network = changes.network;
      if (changes.rules) {
        policy = compilePolicy(changes.rules);
        filters = createFilters(policy, members);
      }
      if (changes.names) namer = createNamer(changes.names, members);
      if (changes.at) changedAtMs = changes.at.getTime();
      return [...changes.peers].map(([id, after]): FollowedChange => {
        const before = peers.get(id);
        if (after) peers.set(id, after);
        else peers.delete(id);
        gateways.note(before, after);
        const content = before && after && sameInMaps(before, after) ? "same" : "other";
        const isNamed = [before, after].some((peer) => peer && namer.standsBehind(peer));
        if (isNamed) namer.forgetPeers();
        const records = isNamed ? "touched" : "same";
        return { change: { id, before, after, content }, touched: filters.note(before, after), records };
      });
    },
    forgetUnused: (isUsed) => indexes.forgetUnused({ isUsed, members: peers }),
  };
}

/** True when a change of a peer's row is none of its entry in maps. */
function sameInMaps(left: Peer, right: Peer): boolean {
  return (
    left.state === right.state &&
    left.capabilities.join() === right.capabilities.join() &&
    left.routes.join() === right.routes.join() &&
    JSON.stringify(mapPeerOf(left)) === JSON.stringify(mapPeerOf(right))
  );
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
