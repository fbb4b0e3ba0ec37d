import {
  type ConcealProfile,
  equalBytes,
  type FilterRule,
  keyBytes,
  PLAIN_CONCEAL,
  type PublicKey,
  type Result,
} from "@weft/protocol";
import type {
  HandshakeCounters,
  PeerChanges,
  PeerState,
  ResumePoint,
  TunnelError,
  TunnelEvent,
  TunnelPeer,
} from "../tunnel.ts";
import { type CoreContext, createCounters, type Moment } from "./core-context.ts";
import { type CommandWriter, createCommandWriter } from "./encode-commands.ts";
import { handleMessage, handlePeerEvent } from "./engine-events.ts";
import type { EngineEvent } from "./engine-port.ts";
import { createCookieSecrets, rotateCookieSecrets } from "./handshake/cookie.ts";
import type { LocalIdentity } from "./handshake/identity.ts";
import { createIndexTable } from "./index-table.ts";
import { handlePeerDue, startHandshake } from "./initiator-flow.ts";
import { changesOf, mapDiff, type PeerChange } from "./map-diff.ts";
import { createPacer } from "./pacer.ts";
import { type Peer, peerStateOf } from "./peer.ts";
import { applyPeerChanges, resumePeer } from "./peer-changes.ts";
import { pathMtuView, refreshPaths, replaceMtu } from "./path-mtu-flow.ts";
import { createPeerTable } from "./peer-table.ts";
import { createPrefixClaims } from "./prefix-claims.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { answerWithCookie } from "./responder-flow.ts";
import { createSessionTimers, REKEY_AFTER_MS } from "./session-timers.ts";
import { silenceOf, timerRanges, WIREGUARD_SILENCE } from "./timer-ranges.ts";
import { wireFilter } from "./wire-filter.ts";

export type TunnelCoreInput = {
  readonly local: LocalIdentity;
  readonly random: (byteCount: number) => Uint8Array;
  readonly peersMax: number;
  /** Whether packets are sent with their checksums left to the tunnel where the profile allows it. */
  readonly checksumElision?: "auto" | "off";
  readonly mtu: CoreContext["mtu"];
  /** Age of a session at which its initiator starts the next one; `REKEY_AFTER_MS` when absent. */
  readonly rekeyAfterMs?: number;
  /** How datagrams are disguised; absent = not at all. */
  readonly conceal?: ConcealProfile;
  readonly at: Moment;
};

/**
 * Decides everything the slow path decides. Feed it (`handle…`, `replace…`, `change…`), then take what it wants done: `commands`
 * for the engine, `pollEvent` for the owner, `nextTimeoutMs` for the clock.
 */
export type TunnelCore = {
  readonly handleEngineEvent: (event: EngineEvent, at: Moment) => void;
  readonly handleTimeout: (at: Moment) => void;
  readonly nextTimeoutMs: () => number;
  readonly replacePeers: (peers: readonly TunnelPeer[], at: Moment) => Result<void, TunnelError>;
  readonly changePeers: (changes: PeerChanges, at: Moment) => Result<void, TunnelError>;
  readonly replaceFilter: (rules: readonly FilterRule[]) => void;
  /** Counts from the next datagram on. */
  readonly replaceConceal: (profile: ConcealProfile | null, at: Moment) => void;
  readonly resumePeers: (peers: readonly ResumePoint[], at: Moment) => void;
  /** The interface has another MTU, or may get another. */
  readonly replaceMtu: (mtu: CoreContext["mtu"], at: Moment) => void;
  /** The interface has this MTU now. */
  readonly setInterfaceMtu: (mtu: number) => void;
  readonly commands: Pick<CommandWriter, "batch" | "clear">;
  readonly pollEvent: () => TunnelEvent | undefined;
  readonly peers: () => readonly PeerState[];
  readonly peer: (publicKey: PublicKey) => PeerState | null;
  readonly publicKeyAt: (slot: number) => PublicKey | undefined;
  readonly peerCount: () => number;
  readonly counters: HandshakeCounters;
};

export function createTunnelCore(input: TunnelCoreInput): TunnelCore {
  const writer = createCommandWriter();
  const events: TunnelEvent[] = [];
  let at = input.at;
  let secrets = createCookieSecrets(input.random);
  const sendSecrets = (): void => writer.push({ kind: "set-cookie-secrets", ...secrets });
  const timers = createSessionTimers(at.nowMs, {
    onPeerDue(slot) {
      const peer = context.peers.at(slot);
      if (peer) handlePeerDue(context, peer, at);
    },
    onCookieRotation() {
      secrets = rotateCookieSecrets(secrets, input.random);
      sendSecrets();
    },
  });
  const context = createContext(input, { timers, send: writer.push, emit: (event) => void events.push(event) });
  const apply = (changes: readonly PeerChange[], now: Moment): Result<void, TunnelError> => {
    const error = peersMaxError(input.peersMax, context.peers.size(), changes);
    if (error) return { ok: false, error };
    applyPeerChanges(context, withoutSelf(context, changes), now);
    return { ok: true, value: undefined };
  };
  const current = { get: (key: PublicKey) => context.peers.get(key)?.desired, keys: () => context.peers.keys() };
  const replaceConceal = (profile: ConcealProfile | null, now: Moment): void => {
    context.conceal = profile ?? PLAIN_CONCEAL;
    context.ranges = timerRanges(context.conceal);
    writer.push({ kind: "set-conceal", disguise: profile && { profile, seed: input.random(SEED_BYTES) } });
    writer.push({ kind: "set-silence", silence: profile ? silenceOf(context.ranges) : WIREGUARD_SILENCE });
    refreshPaths(context, now.nowMs);
    // Sessions stay, but only a handshake shows that the other side has changed too.
    for (const peer of context.peers.all()) if (peer.link.state === "up") startHandshake(context, peer, now);
  };
  sendSecrets();
  if (input.conceal) replaceConceal(input.conceal, at);

  return {
    handleEngineEvent(event, now) {
      if (event.kind === "cookie-wanted") answerWithCookie(context, { ...event, secret: secrets.current });
      else dispatch(context, event, now);
    },
    handleTimeout(now) {
      at = now;
      timers.handleTimeout(now.nowMs);
    },
    nextTimeoutMs: timers.nextTimeoutMs,
    replacePeers: (peers, now) => apply(mapDiff(current, peers), now),
    changePeers: (changes, now) => apply(changesOf(current, changes), now),
    replaceFilter(rules) {
      writer.push({ kind: "set-filter", ...wireFilter(rules) });
    },
    replaceConceal,
    resumePeers(peers, now) {
      for (const { publicKey, endpoint } of peers) {
        const peer = context.peers.get(publicKey);
        if (peer) resumePeer(context, peer, { endpoint, at: now });
      }
    },
    replaceMtu: (mtu, now) => replaceMtu(context, mtu, now.nowMs),
    setInterfaceMtu: (mtu) => writer.push({ kind: "set-mtu", mtu }),
    commands: writer,
    pollEvent: () => events.shift(),
    peers: () => Array.from(context.peers.all(), stateOf),
    peer(publicKey) {
      const peer = context.peers.get(publicKey);
      return peer ? stateOf(peer) : null;
    },
    publicKeyAt: (slot) => context.peers.at(slot)?.publicKey,
    peerCount: () => context.peers.size(),
    counters: context.counters,
  };
}

function createContext(input: TunnelCoreInput, outputs: Pick<CoreContext, "timers" | "send" | "emit">): CoreContext {
  return {
    local: input.local,
    elision: input.checksumElision === "off" ? "receive-only" : "on",
    random: input.random,
    sessionHeadStartMs: REKEY_AFTER_MS - (input.rekeyAfterMs ?? REKEY_AFTER_MS),
    peers: createPeerTable(input.peersMax),
    claims: createPrefixClaims(),
    indices: createIndexTable<Peer>(input.random),
    sources: createRateLimiter({ perSecond: 20, burst: 5, keysMax: 16_384 }),
    pacer: createPacer({ perSecond: 1_000, burst: 32 }),
    counters: createCounters(),
    conceal: PLAIN_CONCEAL,
    ranges: timerRanges(PLAIN_CONCEAL),
    mtu: input.mtu,
    widestPath: 0,
    ...outputs,
  };
}

function dispatch(context: CoreContext, event: Exclude<EngineEvent, { kind: "cookie-wanted" }>, at: Moment): void {
  switch (event.kind) {
    case "handshake-message":
      return handleMessage(context, event, at);
    case "queue-overflow":
      context.counters.droppedQueueFull += event.dropped;
      return;
    case "io-fault": {
      const { operation, severity, errno } = event;
      return context.emit({ kind: "fault", fault: { operation, severity, errno } });
    }
    case "shard-failed":
      return context.emit({ kind: "engine-failed", shard: event.shard, message: event.message });
    case "want-handshake":
    case "no-answer":
    case "session-confirmed":
    case "endpoint-moved":
    case "session-expired":
    case "probe-answered":
    case "path-too-big":
    case "large-sent":
      return handlePeerEvent(context, event, at);
  }
}

function stateOf(peer: Peer): PeerState {
  return { ...peerStateOf(peer), pathMtu: pathMtuView(peer) };
}

const SEED_BYTES = 32;

function peersMaxError(peersMax: number, size: number, changes: readonly PeerChange[]): TunnelError | null {
  let after = size;
  for (const { kind } of changes) after += kind === "add" ? 1 : kind === "remove" ? -1 : 0;
  if (after <= peersMax) return null;
  const message = `${after} peers are more than the engine was started for; raise peersMax (now ${peersMax}).`;
  return { code: "too_many_peers", message, peersMax };
}

/** Our own key as a peer would make the engine talk to itself. */
function withoutSelf(context: CoreContext, changes: readonly PeerChange[]): readonly PeerChange[] {
  const own = context.local.privateKey.publicKey.bytes;
  return changes.filter((change) => change.kind !== "add" || !equalBytes(keyBytes(change.peer.publicKey), own));
}
