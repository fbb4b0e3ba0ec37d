import type { ConcealProfile } from "@weft/protocol";
import type { HandshakeCounters, TunnelEvent } from "../tunnel.ts";
import type { EngineCommand } from "./engine-port.ts";
import type { LocalIdentity } from "./handshake/identity.ts";
import type { PrivateKey } from "./handshake/primitives.ts";
import { KEY_BYTES } from "./handshake/primitives.ts";
import type { IndexTable } from "./index-table.ts";
import type { Pacer } from "./pacer.ts";
import { type Peer, peerDueAtMs } from "./peer.ts";
import type { PeerTable } from "./peer-table.ts";
import type { PrefixClaims } from "./prefix-claims.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { SessionTimers } from "./session-timers.ts";
import type { TimerRanges } from "./timer-ranges.ts";

/** One reading of both clocks. */
export type Moment = { readonly nowMs: number; readonly unixMs: number };

/** What the flows of the core share. */
export type CoreContext = {
  readonly local: LocalIdentity;
  /** What sessions do whose profile carries elision. */
  readonly elision: "on" | "receive-only";
  readonly random: (byteCount: number) => Uint8Array;
  readonly peers: PeerTable;
  readonly claims: PrefixClaims;
  readonly indices: IndexTable<Peer>;
  readonly timers: SessionTimers;
  /** Limits what one source may cost us while the engine is under load. */
  readonly sources: RateLimiter;
  /** Keeps a start with thousands of peers from stopping everything else. */
  readonly pacer: Pacer;
  /** Milliseconds by which sessions are older than they are; 0 outside tests of long runs. */
  readonly sessionHeadStartMs: number;
  readonly counters: { -readonly [Name in keyof HandshakeCounters]: number };
  /** How messages are disguised. Replaced when the profile changes. */
  conceal: ConcealProfile;
  /** From where to where timers are drawn, as that profile says. */
  ranges: TimerRanges;
  /** MTU of the interface as configured, and the largest it may get. Replaced when the interface changes. */
  mtu: { readonly mtu: number; readonly mtuMax: number };
  /** Longest inner packet that the widest path is known to carry; 0 = none is known. */
  widestPath: number;
  readonly send: (command: EngineCommand) => void;
  readonly emit: (event: TunnelEvent) => void;
};

/** Call after every change to `attempt` or `wakeAtMs`. */
export function rearm(context: CoreContext, peer: Peer): void {
  context.timers.arm(peer.slot, peerDueAtMs(peer));
}

export function freshKey(context: CoreContext): PrivateKey {
  const bytes = context.random(KEY_BYTES);
  const key = context.local.primitives.importPrivateKey(bytes);
  bytes.fill(0);
  return key;
}

export function createCounters(): CoreContext["counters"] {
  return {
    initiationsSent: 0,
    initiationsAccepted: 0,
    responsesAccepted: 0,
    cookieRepliesSent: 0,
    cookieRepliesAccepted: 0,
    gaveUp: 0,
    droppedMalformed: 0,
    droppedUnknownPeer: 0,
    droppedReplay: 0,
    droppedTooFast: 0,
    droppedBadTag: 0,
    droppedUnknownIndex: 0,
    droppedUnderLoad: 0,
    droppedQueueFull: 0,
  };
}
