import type { NetworkId, PeerId } from "@weft/protocol";
import { readChanges, readNetwork } from "../db/changes-repository.ts";
import type { ChangesSince, NetworkContents } from "../db/changes-repository.ts";
import type { Executor } from "../db/client.ts";
import { affectedByPeer } from "../domain/affected-nodes.ts";
import type { PeerChange } from "../domain/affected-nodes.ts";
import { selfOf } from "../domain/map-content.ts";
import type { Peer } from "../domain/peer.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { refusalFor, refuse } from "./handshake.ts";
import type { AttachedStream } from "./attached-stream.ts";
import type { MapEncoder } from "./map-encoder.ts";
import { createMapSender } from "./map-sender.ts";
import { createNetworkMirror } from "./network-mirror.ts";
import type { FollowedChange, NetworkMirror } from "./network-mirror.ts";

/** The streams of one network and the memory they are served from. */
export type NetworkHub = {
  readonly id: NetworkId;
  readonly mirror: NetworkMirror;
  readonly streams: ReadonlyMap<PeerId, AttachedStream>;
  readonly attach: (stream: AttachedStream, mode: "resume" | "snapshot") => void;
  readonly detach: (stream: AttachedStream) => void;
  readonly resend: (stream: AttachedStream) => void;
  /** Reads what changed in the database; resolves when memory is at least as new as it was at the call. */
  readonly catchUp: () => Promise<void>;
  readonly dispose: () => void;
};

export type NetworkHubDeps = {
  readonly db: Executor;
  readonly encoder: MapEncoder;
  readonly clock: WallClock;
  readonly onPeers: (changed: readonly PeerId[], removed: readonly PeerId[]) => void;
  readonly onGone: () => void;
  readonly onSent: (stream: AttachedStream) => void;
  readonly onError: (event: string, error: unknown) => void;
};

export function createNetworkHub(deps: NetworkHubDeps, contents: NetworkContents): NetworkHub {
  const { db, clock } = deps;
  const id = contents.network.id;
  const mirror = createNetworkMirror(contents, clock.nowMs());
  const streams = new Map<PeerId, AttachedStream>();
  const sender = createMapSender({ mirror, encoder: deps.encoder, clock, onSent: deps.onSent, onError: deps.onError });
  const context: FollowContext = { ...deps, mirror, streams, needsDelta: sender.needsDelta };

  const reload = async () => {
    const before = [...mirror.peers().keys()];
    const fresh = await readNetwork(db, id);
    if (!fresh) return end();
    mirror.replace(fresh);
    forgetUnused(streams, mirror);
    const removed = before.filter((peerId) => !mirror.peers().has(peerId));
    sayRemoved(streams, removed);
    sayShutOut(streams, mirror.peers().values());
    deps.onPeers([...mirror.peers().keys()], removed);
    for (const stream of streams.values()) resend(stream);
  };
  const end = () => {
    sayRemoved(streams, [...streams.keys()]);
    deps.onGone();
  };
  const resend = (stream: AttachedStream) => {
    stream.desired.noteSnapshot();
    sender.needsSnapshot(stream);
  };
  const read = async () => {
    const changes = await readChanges(db, id, mirror.network().sequence);
    if (!changes) return end();
    if (changes.network.epoch !== mirror.network().epoch || !changes.isComplete) return reload();
    follow(context, changes);
    forgetUnused(streams, mirror);
  };

  return {
    id,
    mirror,
    streams,
    attach(stream, mode) {
      streams.set(stream.peerId, stream);
      if (mode === "snapshot") return sender.needsSnapshot(stream);
      stream.desired.noteSentAll();
      stream.sentSequence = mirror.network().sequence;
      stream.appliedSequence = stream.sentSequence;
    },
    detach(stream) {
      sender.forget(stream);
      if (streams.get(stream.peerId) === stream) streams.delete(stream.peerId);
    },
    resend,
    catchUp: inTurn(read),
    dispose: sender.dispose,
  };
}

type FollowContext = NetworkHubDeps & {
  readonly mirror: NetworkMirror;
  readonly streams: ReadonlyMap<PeerId, AttachedStream>;
  readonly needsDelta: (stream: AttachedStream) => void;
};

/** Applies changes to memory and tells exactly the streams whose maps they touch. */
function follow(context: FollowContext, changes: ChangesSince): void {
  const { mirror, streams, needsDelta } = context;
  const followed = mirror.follow(changes);
  const removed = [...changes.peers].flatMap(([peerId, peer]) => (peer ? [] : [peerId]));
  sayRemoved(streams, removed);
  sayShutOut(streams, changes.peers.values());
  for (const one of followed) tellOfPeer(context, one);
  const doNamesChange = changes.names !== undefined || followed.some(({ records }) => records === "touched");
  if (changes.rules || changes.networkChanged || doNamesChange) {
    for (const stream of streams.values()) {
      if (doNamesChange) stream.desired.noteNames();
      if (changes.rules) stream.desired.noteRules();
      if (changes.networkChanged) stream.desired.noteSelf();
      needsDelta(stream);
    }
  }
  context.onPeers(
    [...changes.peers.keys()].filter((peerId) => mirror.peers().has(peerId)),
    removed,
  );
}

/** Notes a change of a peer in exactly the streams whose maps it touches. */
function tellOfPeer({ mirror, streams, needsDelta }: FollowContext, { change, touched }: FollowedChange): void {
  const { id, before, after } = change;
  // Most reports of a node change nothing that maps or rules know of.
  if (change.content === "same" && before?.groupIds.join() === after?.groupIds.join()) {
    return tellOfRoads({ streams, needsDelta }, change);
  }
  const rules = { policy: mirror.policy(), filters: mirror.filters(), clientsOf: mirror.clientsOf };
  const nodes = [...streams.keys()].flatMap((node) => mirror.peers().get(node) ?? []);
  for (const { id: node, effect } of affectedByPeer(rules, { change, touched }, nodes)) {
    const stream = streams.get(node);
    if (!stream) continue;
    if (node === id) noteOwnChange(stream, mirror, change);
    else if (effect !== "filter") stream.desired.notePeer(id);
    if (effect !== "peer") stream.desired.noteFilter();
    needsDelta(stream);
  }
  // The rules and groups of this moment do not tell who was told of it: they may have changed together with it.
  const index = mirror.indexOf(id);
  for (const stream of streams.values()) {
    if (!stream.desired.holds(index) || mirror.maySee(stream.peerId, id)) continue;
    stream.desired.notePeer(id);
    needsDelta(stream);
  }
  const gateways = new Set([before, after].flatMap((peer) => peer?.gatewayPeerId ?? []));
  for (const gateway of gateways) tellOfGateway({ mirror, streams, needsDelta }, gateway);
}

/** A client behind a gateway came, went or changed: the gateway carries for others now, and others may need it. */
function tellOfGateway(
  { mirror, streams, needsDelta }: Pick<FollowContext, "mirror" | "streams" | "needsDelta">,
  gateway: PeerId,
): void {
  const index = mirror.indexOf(gateway);
  for (const stream of streams.values()) {
    const isOwn = stream.peerId === gateway;
    if (isOwn) stream.desired.noteRules();
    else if (stream.desired.holds(index) !== mirror.maySee(stream.peerId, gateway)) stream.desired.notePeer(gateway);
    else continue;
    needsDelta(stream);
  }
}

/** What a change of a peer means for its own node. */
function noteOwnChange({ desired }: AttachedStream, mirror: NetworkMirror, { before, after }: PeerChange): void {
  if (!before || !after) return desired.noteSelf();
  // What a node can do decides about its profile with every other one; one that is let in has no map yet.
  if (!sameCapabilities(before, after) || before.state !== after.state) return desired.noteSnapshot();
  if (before.groupIds.join() !== after.groupIds.join()) desired.noteMembership();
  if (!sameExit(before, after)) noteExit(desired, before, after);
  const selves = [before, after].map((peer) => JSON.stringify(selfOf(mirror.network(), peer)));
  if (selves[0] !== selves[1]) desired.noteSelf();
}

/** What a node forwards into and where its own traffic leaves concerns nobody else. */
function tellOfRoads(
  { streams, needsDelta }: Pick<FollowContext, "streams" | "needsDelta">,
  { id, before, after }: PeerChange,
): void {
  const stream = streams.get(id);
  if (!stream || !before || !after) return;
  const isSame = JSON.stringify(before.serves) === JSON.stringify(after.serves) && sameExit(before, after);
  if (isSame) return;
  stream.desired.noteSelf();
  if (!sameExit(before, after)) noteExit(stream.desired, before, after);
  needsDelta(stream);
}

/** The old exit node and the new one look different now, and other packets may leave. */
function noteExit(desired: AttachedStream["desired"], before: Peer, after: Peer): void {
  for (const choice of [before.exitChoice, after.exitChoice]) if (choice) desired.notePeer(choice.peerId);
  desired.noteFilter();
}

function sameExit(before: Peer, after: Peer): boolean {
  return JSON.stringify(before.exitChoice) === JSON.stringify(after.exitChoice);
}

function forgetUnused(streams: ReadonlyMap<PeerId, AttachedStream>, mirror: NetworkMirror): void {
  const sets = [...streams.values()].map(({ desired }) => desired);
  mirror.forgetUnused((index) => sets.some((desired) => desired.holds(index)));
}

function sameCapabilities(left: Peer, right: Peer): boolean {
  return left.capabilities.join() === right.capabilities.join();
}

function sayRemoved(streams: ReadonlyMap<PeerId, AttachedStream>, removed: readonly PeerId[]): void {
  const refusal = refuse("removed", "none", "this node was removed from its network; join again with a new key");
  for (const peerId of removed) streams.get(peerId)?.socket.bye(refusal);
}

function sayShutOut(streams: ReadonlyMap<PeerId, AttachedStream>, peers: Iterable<Peer | undefined>): void {
  for (const peer of peers) {
    const refusal = peer && refusalFor(peer.state);
    if (refusal) streams.get(peer.id)?.socket.bye(refusal);
  }
}

/** Runs one at a time; calls that come while one waits share its run. */
function inTurn(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  return () => {
    waiting ??= running
      .catch(() => undefined)
      .then(() => {
        waiting = undefined;
        running = run();
        return running;
      });
    return waiting;
  };
}
