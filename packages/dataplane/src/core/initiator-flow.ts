import { type CoreContext, freshKey, type Moment, rearm } from "./core-context.ts";
import { attemptTargets } from "./endpoint-choice.ts";
import type { WireEndpoint } from "./engine-port.ts";
import { viewOf } from "./handshake/bytes.ts";
import { COOKIE_LIFETIME_MS, openCookieReply } from "./handshake/cookie.ts";
import { createInitiation } from "./handshake/initiator.ts";
import { writeMacs } from "./handshake/macs.ts";
import type { CookieReplyMessage, ResponseMessage } from "./handshake/messages.ts";
import { tai64n } from "./handshake/tai64n.ts";
import { profileOfAttempt } from "./link-profiles.ts";
import { type HandshakeAttempt, type Peer, remoteIdentityOf, type SentInitiation } from "./peer.ts";
import { drawFrom, stampType } from "./message-types.ts";
import { feedPath } from "./path-mtu-flow.ts";
import { pathSilent } from "./path-state.ts";
import { dropAttempt, installSession, markUp, noteWorking } from "./session-flow.ts";
import { REKEY_GIVE_UP_MS, RETRY_JITTER_MS_MAX } from "./session-timers.ts";
import { wireEndpoint } from "./wire-address.ts";

/** Starts a handshake unless one is under way; waits for the rest of the pause since the last initiation. */
export function startHandshake(context: CoreContext, peer: Peer, at: Moment): void {
  if (peer.attempt.state === "trying") return;
  const readyAtMs = Math.max(pauseEndMs(context, peer, at), context.pacer.reserve(at.nowMs));
  const { repeats } = context.ranges;
  peer.attempt = {
    state: "trying",
    startedAtMs: at.nowMs,
    attempts: 0,
    // The first one, the repetitions, and the one that is under way when they are used up.
    attemptsMax: repeats && drawFrom(repeats, context.random) + 2,
    retryAtMs: readyAtMs,
    pending: null,
    cookieRetry: "unused",
  };
  if (readyAtMs <= at.nowMs) sendInitiation(context, peer, at);
  rearm(context, peer);
}

/** The peer's timer has run out: try again, give up, or start what was planned. */
export function handlePeerDue(context: CoreContext, peer: Peer, at: Moment): void {
  const { attempt } = peer;
  if (peer.wakeAtMs !== null && peer.wakeAtMs <= at.nowMs) {
    peer.wakeAtMs = null;
    startHandshake(context, peer, at);
  } else if (attempt.state === "trying" && attempt.retryAtMs <= at.nowMs) {
    if (isUsedUp(attempt, at)) giveUp(context, peer, at);
    else sendInitiation(context, peer, at);
  }
  feedPath(context, peer, { kind: "timeout", nowMs: at.nowMs });
  rearm(context, peer);
}

/** We sent data and heard nothing: the path is doubtful, a handshake will show. */
export function handleNoAnswer(context: CoreContext, peer: Peer, at: Moment): void {
  peer.path = pathSilent(peer.path, at.nowMs);
  startHandshake(context, peer, at);
}

/** Better addresses became known while a handshake waits for an answer. */
export function retrySoon(context: CoreContext, peer: Peer, at: Moment): void {
  const { attempt } = peer;
  if (attempt.state !== "trying") return;
  peer.attempt = { ...attempt, retryAtMs: Math.min(attempt.retryAtMs, pauseEndMs(context, peer, at)) };
  rearm(context, peer);
}

export type Incoming<Message> = { readonly message: Message; readonly from: WireEndpoint; readonly at: Moment };

/** Completes our handshake. */
export function acceptResponse(context: CoreContext, incoming: Incoming<ResponseMessage>): void {
  const peer = context.indices.get(incoming.message.receiverIndex);
  const pending = peer?.attempt.state === "trying" ? peer.attempt.pending : null;
  if (!peer || pending?.localIndex !== incoming.message.receiverIndex) {
    context.counters.droppedUnknownIndex += 1;
    return;
  }
  const finished = pending.finish(incoming.message);
  if (!finished.ok) {
    context.counters.droppedBadTag += 1;
    return;
  }
  context.counters.responsesAccepted += 1;
  peer.attempt = { state: "idle" };
  const { profile } = pending.bound;
  installSession(context, peer, { keys: finished.value, profile, from: incoming.from, at: incoming.at });
  noteWorking(context, peer, profile);
  markUp(context, peer, incoming.at.nowMs);
}

/** Keeps the cookie for the next message; answers the first one at once. */
export function acceptCookieReply(context: CoreContext, incoming: Incoming<CookieReplyMessage>): void {
  const peer = context.indices.get(incoming.message.receiverIndex);
  const sent = peer?.lastSent;
  const remote = peer && remoteIdentityOf(peer, context.local);
  if (!peer || !remote || sent?.localIndex !== incoming.message.receiverIndex) {
    context.counters.droppedUnknownIndex += 1;
    return;
  }
  const expected = { cookieKey: remote.cookieKey, mac1: sent.mac1 };
  const value = openCookieReply(context.local.primitives, incoming.message, expected);
  if (!value) {
    context.counters.droppedBadTag += 1;
    return;
  }
  context.counters.cookieRepliesAccepted += 1;
  peer.cookie = { value, receivedAtMs: incoming.at.nowMs };
  const { attempt } = peer;
  if (attempt.state !== "trying" || attempt.cookieRetry === "used") return;
  peer.attempt = { ...attempt, cookieRetry: "used" };
  sendInitiation(context, peer, incoming.at);
  rearm(context, peer);
}

/** The cookie for messages to this peer, while it is fresh enough to be honoured. */
export function freshCookie(peer: Peer, nowMs: number): Uint8Array | null {
  if (!peer.cookie || nowMs - peer.cookie.receivedAtMs >= COOKIE_LIFETIME_MS) return null;
  return peer.cookie.value;
}

/** When the pause since the last initiation is over: now, or later. */
function pauseEndMs(context: CoreContext, peer: Peer, at: Moment): number {
  if (peer.initiationSentAtMs === null) return at.nowMs;
  return Math.max(at.nowMs, peer.initiationSentAtMs + context.ranges.retry.low * MS_PER_SECOND);
}

type Trying = Extract<HandshakeAttempt, { state: "trying" }>;

function isUsedUp({ attempts, attemptsMax, startedAtMs }: Trying, at: Moment): boolean {
  return attemptsMax === null ? at.nowMs - startedAtMs >= REKEY_GIVE_UP_MS : attempts >= attemptsMax;
}

function sendInitiation(context: CoreContext, peer: Peer, at: Moment): void {
  const { attempt } = peer;
  if (attempt.state !== "trying") return;
  if (attempt.pending) context.indices.release(attempt.pending.localIndex);
  const attempts = attempt.attempts + 1;
  const targets = attemptTargets(peer.choice, peer.path, attempts);
  const pending = targets.length === 0 ? null : makeInitiation(context, peer, { at, attempt: attempts });
  const pauseMs = drawFrom(context.ranges.retry, context.random) * MS_PER_SECOND;
  const retryAtMs = at.nowMs + pauseMs + jitterMs(context);
  const next: Trying = { ...attempt, attempts, retryAtMs, pending };
  peer.attempt = next;
  if (!pending) return;
  for (const target of targets) {
    const { message } = pending;
    context.send({ kind: "send-handshake", slot: peer.slot, endpoint: wireEndpoint(target), message });
  }
  peer.initiationSentAtMs = at.nowMs;
  context.counters.initiationsSent += 1;
}

/** Null when the peer's key is of low order: nothing will ever answer, and the attempt ends like any other. */
function makeInitiation(
  context: CoreContext,
  peer: Peer,
  { at, attempt }: { readonly at: Moment; readonly attempt: number },
): SentInitiation | null {
  const { local } = context;
  const bound = profileOfAttempt(peer.profiles, attempt);
  const remote = remoteIdentityOf(peer, local);
  if (!remote) return null;
  const localIndex = context.indices.allocate(peer);
  const timestamp = tai64n(at.unixMs, peer.sentTimestamp);
  const input = { local, remote, ephemeral: freshKey(context), localIndex, timestamp, profile: bound.identifier };
  const made = createInitiation(input);
  if (!made.ok) {
    context.indices.release(localIndex);
    return null;
  }
  peer.sentTimestamp = timestamp;
  const cookie = freshCookie(peer, at.nowMs);
  const message = stampType(made.value.message, context.conceal, context.random);
  const mac1 = writeMacs(local.primitives, message, { mac1Key: remote.mac1Key, cookie });
  peer.lastSent = { localIndex, mac1 };
  return { ...made.value, bound };
}

function giveUp(context: CoreContext, peer: Peer, at: Moment): void {
  const attempts = peer.attempt.state === "trying" ? peer.attempt.attempts : 0;
  dropAttempt(context, peer);
  peer.path = pathSilent(peer.path, at.nowMs);
  context.counters.gaveUp += 1;
  context.send({ kind: "handshake-gave-up", slot: peer.slot });
  context.emit({ kind: "handshake-failed", publicKey: peer.publicKey, attempts });
  const { keepaliveSeconds } = peer.desired;
  if (keepaliveSeconds > 0) peer.wakeAtMs = at.nowMs + keepaliveSeconds * MS_PER_SECOND;
}

function jitterMs(context: CoreContext): number {
  return viewOf(context.random(2)).getUint16(0, true) % (RETRY_JITTER_MS_MAX + 1);
}

const MS_PER_SECOND = 1_000;
