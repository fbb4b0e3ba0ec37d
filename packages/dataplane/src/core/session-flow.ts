import { LANES_OFFERED_MAX, type LinkProfile } from "@weft/protocol";
import { type CoreContext, type Moment, rearm } from "./core-context.ts";
import { withAuthenticated } from "./endpoint-choice.ts";
import type { WireEndpoint } from "./engine-port.ts";
import type { SessionKeys } from "./handshake/session-keys.ts";
import { withWorking } from "./link-profiles.ts";
import { type Peer, pathProbesOf } from "./peer.ts";
import { allowProbes, endPath, startPath } from "./path-mtu-flow.ts";
import { pathHeard } from "./path-state.ts";
import { drawAgeing } from "./timer-ranges.ts";
import { type SlotsChange, withConfirmed, withInstalled, withoutSession } from "./session-slots.ts";
import { endpointFromWire } from "./wire-address.ts";

/** Fresh keys, and where and when the message that completed them came from. */
export type FreshSession = {
  readonly keys: SessionKeys;
  readonly profile: LinkProfile | null;
  readonly from: WireEndpoint;
  readonly at: Moment;
};

/** Hands fresh keys to the engine, wipes them here, and sends to where the peer was heard from. */
export function installSession(context: CoreContext, peer: Peer, session: FreshSession): void {
  const { keys, profile, from, at } = session;
  noteHeard(context, peer, { from, nowMs: at.nowMs });
  context.send({ kind: "set-endpoint", slot: peer.slot, endpoint: from });
  const cipher = profile?.cipher ?? "chacha20-poly1305";
  const elision = profile?.elision === "on" ? context.elision : "off";
  const extensions = profile && peer.desired.pathProbes === "sent" ? "agreed" : "none";
  const lanes = Math.min(profile?.lanes ?? 1, LANES_OFFERED_MAX);
  const ageing = drawAgeing(context.ranges, context.random);
  const ageMs = ageing ? 0 : context.sessionHeadStartMs;
  context.send({ kind: "install-session", slot: peer.slot, keys, ageMs, cipher, elision, extensions, lanes, ageing });
  keys.sendKey.fill(0);
  keys.receiveKey.fill(0);
  const record = { localIndex: keys.localIndex, role: keys.role, installedAtMs: at.nowMs, profile };
  applySlots(context, peer, { ...withInstalled(peer.sessions, record), nowMs: at.nowMs });
  peer.lastHandshakeAtUnixMs = at.unixMs;
  peer.wakeAtMs = null;
  rearm(context, peer);
}

/** The first packet under a session we answered for has arrived: the session works in both directions. */
export function confirmSession(
  context: CoreContext,
  peer: Peer,
  session: { readonly localIndex: number; readonly nowMs: number },
): void {
  const { localIndex, nowMs } = session;
  applySlots(context, peer, { ...withConfirmed(peer.sessions, localIndex), nowMs });
  const { current } = peer.sessions;
  if (current?.localIndex !== localIndex) return;
  noteWorking(context, peer, current.profile);
  dropAttempt(context, peer);
  peer.path = pathHeard(peer.path, nowMs);
  markUp(context, peer, nowMs);
  rearm(context, peer);
}

/** The engine wiped a session's keys. Returns whether any other is left. */
export function forgetSession(context: CoreContext, peer: Peer, localIndex: number): "some-left" | "none-left" {
  context.indices.release(localIndex);
  const probesBefore = pathProbesOf(peer);
  peer.sessions = withoutSession(peer.sessions, localIndex);
  if (pathProbesOf(peer) !== probesBefore) allowProbes(context, peer);
  if (peer.sessions.current || peer.sessions.next) return "some-left";
  markDown(context, peer);
  return "none-left";
}

/** Something authenticated came from there. */
export function noteHeard(
  context: CoreContext,
  peer: Peer,
  heard: { readonly from: WireEndpoint; readonly nowMs: number },
): void {
  peer.path = pathHeard(peer.path, heard.nowMs);
  const endpoint = endpointFromWire(heard.from);
  if (!endpoint || peer.choice.active === endpoint) return;
  peer.choice = withAuthenticated(peer.choice, endpoint);
  startPath(context, peer, heard.nowMs);
  context.emit({ kind: "endpoint-moved", publicKey: peer.publicKey, endpoint });
}

/** A session under the profile works. */
export function noteWorking(context: CoreContext, peer: Peer, profile: LinkProfile | null): void {
  const before = peer.profiles.previous;
  peer.profiles = withWorking(peer.profiles, profile);
  if (before === null || peer.profiles.previous !== null) return;
  context.emit({ kind: "profile-settled", publicKey: peer.publicKey, profile });
}

export function markUp(context: CoreContext, peer: Peer, nowMs: number): void {
  if (peer.link.state === "up") return;
  peer.link = { state: "up", sinceMs: nowMs };
  context.emit({ kind: "peer-up", publicKey: peer.publicKey, endpoint: peer.choice.active });
  startPath(context, peer, nowMs);
}

/** Forgets our own unanswered initiation. */
export function dropAttempt(context: CoreContext, peer: Peer): void {
  if (peer.attempt.state === "trying" && peer.attempt.pending) context.indices.release(peer.attempt.pending.localIndex);
  peer.attempt = { state: "idle" };
}

function markDown(context: CoreContext, peer: Peer): void {
  if (peer.link.state === "down") return;
  peer.link = { state: "down" };
  endPath(context, peer);
  context.emit({ kind: "peer-down", publicKey: peer.publicKey });
}

function applySlots(context: CoreContext, peer: Peer, change: SlotsChange & { readonly nowMs: number }): void {
  const probesBefore = pathProbesOf(peer);
  peer.sessions = change.slots;
  if (pathProbesOf(peer) !== probesBefore) {
    allowProbes(context, peer);
    startPath(context, peer, change.nowMs);
  }
  for (const { localIndex } of change.dropped) {
    context.send({ kind: "retire-session", localIndex });
    context.indices.release(localIndex);
  }
}
