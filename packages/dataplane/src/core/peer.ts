import { keyBytes, type PublicKey } from "@weft/protocol";
import type { PeerState, TunnelPeer } from "../tunnel.ts";
import { activeSource, createEndpointChoice, type EndpointChoice } from "./endpoint-choice.ts";
import { createRemoteIdentity, type LocalIdentity, type RemoteIdentity } from "./handshake/identity.ts";
import type { PendingInitiation } from "./handshake/initiator.ts";
import { NO_PRESHARED_KEY } from "./handshake/transcript.ts";
import { type BoundProfile, type PeerProfiles, PLAIN, profileState } from "./link-profiles.ts";
import { type PathMtu, pathMtuDueAtMs } from "./path-mtu.ts";
import { type PathState, UNKNOWN_PATH } from "./path-state.ts";
import { NO_SESSIONS, type SessionSlots } from "./session-slots.ts";

/** Everything the slow path remembers about one peer. Changed in place by the flows beside this file. */
export type Peer = {
  /** The engine's number for it. */
  readonly slot: number;
  readonly publicKey: PublicKey;
  desired: TunnelPeer;
  choice: EndpointChoice;
  path: PathState;
  /** How large datagrams may be on the present path; null without a session. */
  pathMtu: PathMtu | null;
  /** Outlives each path, so that no answer is taken for one about a later path. */
  nextProbeId: number;
  attempt: HandshakeAttempt;
  link: PeerLink;
  sessions: SessionSlots;
  profiles: PeerProfiles;
  identity: PeerIdentity;
  /** The newest time stamp this peer proved; older ones are replays. */
  greatestTimestamp: Uint8Array | null;
  /** The newest time stamp we sent. */
  sentTimestamp: Uint8Array | null;
  initiationAcceptedAtMs: number | null;
  initiationSentAtMs: number | null;
  cookie: { readonly value: Uint8Array; readonly receivedAtMs: number } | null;
  /** The handshake message a cookie reply may still answer. */
  lastSent: { readonly localIndex: number; readonly mac1: Uint8Array } | null;
  lastHandshakeAtUnixMs: number | null;
  /** When we start a handshake on our own although the engine asks for none. */
  wakeAtMs: number | null;
};

/** Our own try to reach a peer. */
export type HandshakeAttempt =
  | { readonly state: "idle" }
  /** Wanted, but the pause since the last initiation is not over, or no answer came yet. */
  | {
      readonly state: "trying";
      readonly startedAtMs: number;
      readonly attempts: number;
      /** So many initiations, then it is given up; null = after `REKEY_GIVE_UP_MS`. */
      readonly attemptsMax: number | null;
      readonly retryAtMs: number;
      readonly pending: SentInitiation | null;
      /** A cookie that arrives is answered at once, but only the first one. */
      readonly cookieRetry: "unused" | "used";
    };

/** An initiation of ours and the link profile it was made under. */
export type SentInitiation = PendingInitiation & { readonly bound: BoundProfile };

/** Whether a session works, as shown to others. */
type PeerLink = { readonly state: "down" } | { readonly state: "up"; readonly sinceMs: number };

/** The peer's key material, prepared at the first handshake: at 10,000 peers most never need it. */
type PeerIdentity =
  | { readonly state: "unprepared" }
  | { readonly state: "ready"; readonly remote: RemoteIdentity }
  | { readonly state: "unusable" };

export function createPeer(slot: number, desired: TunnelPeer): Peer {
  return {
    slot,
    publicKey: desired.publicKey,
    desired,
    choice: createEndpointChoice(desired.endpoints),
    path: UNKNOWN_PATH,
    pathMtu: null,
    nextProbeId: 1,
    attempt: { state: "idle" },
    link: { state: "down" },
    sessions: NO_SESSIONS,
    profiles: { wanted: PLAIN, previous: null, fallback: "refuse" },
    identity: { state: "unprepared" },
    greatestTimestamp: null,
    sentTimestamp: null,
    initiationAcceptedAtMs: null,
    initiationSentAtMs: null,
    cookie: null,
    lastSent: null,
    lastHandshakeAtUnixMs: null,
    wakeAtMs: null,
  };
}

/** The peer's prepared key material; null when its public key cannot be used. */
export function remoteIdentityOf(peer: Peer, local: LocalIdentity): RemoteIdentity | null {
  if (peer.identity.state === "unprepared") {
    const presharedKey = peer.desired.presharedKey?.expose() ?? NO_PRESHARED_KEY;
    const remote = createRemoteIdentity(local, { publicKey: keyBytes(peer.publicKey), presharedKey });
    peer.identity = remote ? { state: "ready", remote } : { state: "unusable" };
  }
  return peer.identity.state === "ready" ? peer.identity.remote : null;
}

/** The earliest moment at which this peer needs attention. */
export function peerDueAtMs(peer: Peer): number | null {
  const retryAtMs = peer.attempt.state === "trying" ? peer.attempt.retryAtMs : null;
  const probeAtMs = peer.pathMtu && pathMtuDueAtMs(peer.pathMtu);
  const dueAtMs = Math.min(...[retryAtMs, peer.wakeAtMs, probeAtMs].map((atMs) => atMs ?? Infinity));
  return dueAtMs === Infinity ? null : dueAtMs;
}

export function peerStateOf(peer: Peer): Omit<PeerState, "pathMtu"> {
  return {
    publicKey: peer.publicKey,
    endpoint: peer.choice.active,
    endpointSource: activeSource(peer.choice),
    lastHandshakeAtMs: peer.lastHandshakeAtUnixMs,
    session: sessionOf(peer),
    profile: profileOf(peer),
  };
}

/**
 * Whether the peer may be asked which sizes reach it: extension messages exist only in sessions under a link profile. Whoever
 * speaks plain WireGuard, also for want of an answer under the profile, never gets one.
 */
export function pathProbesOf(peer: Peer): "sent" | "not-sent" {
  const isProfiled = (peer.sessions.current ?? peer.sessions.next)?.profile;
  return isProfiled && peer.desired.pathProbes === "sent" ? "sent" : "not-sent";
}

function profileOf(peer: Peer): PeerState["profile"] {
  const { current, next } = peer.sessions;
  const session = current ?? next;
  const used = session?.profile ?? null;
  return {
    state: profileState(peer.profiles, session ? used : undefined),
    wanted: peer.profiles.wanted.profile,
    used,
  };
}

function sessionOf(peer: Peer): PeerState["session"] {
  if (peer.link.state === "up") return { state: "up", sinceMs: peer.link.sinceMs };
  if (peer.attempt.state === "idle") return { state: "none" };
  return { state: "handshaking", startedAtMs: peer.attempt.startedAtMs, attempts: peer.attempt.attempts };
}
