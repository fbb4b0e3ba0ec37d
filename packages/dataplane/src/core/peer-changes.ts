import type { Endpoint } from "@weft/protocol";
import type { TunnelPeer } from "../tunnel.ts";
import { type CoreContext, type Moment, rearm } from "./core-context.ts";
import { withAuthenticated, withCandidates } from "./endpoint-choice.ts";
import { retrySoon, startHandshake } from "./initiator-flow.ts";
import type { PeerChange, PeerField } from "./map-diff.ts";
import { bindProfile, startingProfiles, withWanted } from "./link-profiles.ts";
import type { Peer } from "./peer.ts";
import { allowProbes, endPath, startPath } from "./path-mtu-flow.ts";
import { dropAttempt } from "./session-flow.ts";
import { allSessions } from "./session-slots.ts";
import { wireEndpoint, wirePrefix } from "./wire-address.ts";

/** Turns steps of a map diff into engine commands. Nobody but the named peers is touched. */
export function applyPeerChanges(context: CoreContext, changes: readonly PeerChange[], at: Moment): void {
  for (const change of changes) {
    switch (change.kind) {
      case "remove": {
        const peer = context.peers.get(change.publicKey);
        if (peer) removePeer(context, peer);
        break;
      }
      case "add":
        addPeer(context, change.peer, at);
        break;
      case "update": {
        const peer = context.peers.get(change.peer.publicKey);
        if (peer) updatePeer(context, peer, { desired: change.peer, fields: change.fields, at });
      }
    }
  }
}

function addPeer(context: CoreContext, desired: TunnelPeer, at: Moment): void {
  const peer = context.peers.add(desired);
  const { slot } = peer;
  peer.profiles = startingProfiles(context.local.primitives, desired);
  context.send({ kind: "add-peer", slot, keepaliveSeconds: desired.keepaliveSeconds });
  if (peer.choice.active) context.send({ kind: "set-endpoint", slot, endpoint: wireEndpoint(peer.choice.active) });
  claimPrefixes(context, peer);
  if (desired.keepaliveSeconds === 0 || desired.endpoints.length === 0) return;
  peer.wakeAtMs = at.nowMs;
  rearm(context, peer);
}

/** Goes on where an earlier tunnel was: at the address it heard the peer from last, with a handshake at once. */
export function resumePeer(
  context: CoreContext,
  peer: Peer,
  resume: { readonly endpoint: Endpoint | null; readonly at: Moment },
): void {
  const { endpoint, at } = resume;
  if (endpoint && peer.choice.active !== endpoint) {
    peer.choice = withAuthenticated(peer.choice, endpoint);
    context.send({ kind: "set-endpoint", slot: peer.slot, endpoint: wireEndpoint(endpoint) });
  }
  peer.wakeAtMs = null;
  startHandshake(context, peer, at);
}

function removePeer(context: CoreContext, peer: Peer): void {
  dropAttempt(context, peer);
  endPath(context, peer);
  for (const { localIndex } of allSessions(peer.sessions)) context.indices.release(localIndex);
  context.timers.arm(peer.slot, null);
  context.send({ kind: "remove-peer", slot: peer.slot });
  resendHeld(context, context.claims.claim(peer.slot, []));
  context.peers.remove(peer);
}

type Update = { readonly desired: TunnelPeer; readonly fields: ReadonlySet<PeerField>; readonly at: Moment };

function updatePeer(context: CoreContext, peer: Peer, update: Update): void {
  const { slot } = peer;
  peer.desired = update.desired;
  if (update.fields.has("presharedKey")) {
    // The next handshake uses the new key; the present session goes on until then, as with every WireGuard.
    peer.identity = { state: "unprepared" };
    dropAttempt(context, peer);
    peer.wakeAtMs = update.at.nowMs;
  }
  if (update.fields.has("profile")) changeProfile(context, peer, update.at);
  if (update.fields.has("allowedIps")) claimPrefixes(context, peer);
  if (update.fields.has("keepalive")) {
    context.send({ kind: "set-keepalive", slot, keepaliveSeconds: update.desired.keepaliveSeconds });
  }
  if (update.fields.has("pathProbes")) {
    allowProbes(context, peer);
    startPath(context, peer, update.at.nowMs);
  }
  if (update.fields.has("endpoints")) moveCandidates(context, peer, update.at);
  const wantsSession = update.desired.keepaliveSeconds > 0 && update.desired.endpoints.length > 0;
  if (wantsSession && peer.link.state === "down" && peer.attempt.state === "idle") peer.wakeAtMs ??= update.at.nowMs;
  rearm(context, peer);
}

/** The present session goes on; a new one under the new profile follows at once. */
function changeProfile(context: CoreContext, peer: Peer, at: Moment): void {
  const { profile, profileFallback } = peer.desired;
  const before = peer.profiles.wanted;
  peer.profiles = withWanted(peer.profiles, bindProfile(context.local.primitives, profile), profileFallback);
  if (peer.profiles.wanted === before) return;
  const wasTrying = peer.attempt.state === "trying";
  dropAttempt(context, peer);
  if (wasTrying || peer.link.state === "up") peer.wakeAtMs = at.nowMs;
}

function moveCandidates(context: CoreContext, peer: Peer, at: Moment): void {
  const before = peer.choice.active;
  peer.choice = withCandidates(peer.choice, peer.desired.endpoints, peer.path);
  const { active } = peer.choice;
  if (active && active !== before) {
    context.send({ kind: "set-endpoint", slot: peer.slot, endpoint: wireEndpoint(active) });
    startPath(context, peer, at.nowMs);
  }
  if (peer.link.state === "down") retrySoon(context, peer, at);
}

/** A prefix goes to whoever claimed it last; who had it before gets it back when that claim ends. */
function claimPrefixes(context: CoreContext, peer: Peer): void {
  const gainers = context.claims.claim(peer.slot, peer.desired.allowedIps);
  resendHeld(context, [peer.slot, ...gainers]);
}

function resendHeld(context: CoreContext, slots: Iterable<number>): void {
  for (const slot of slots) {
    const prefixes = context.claims.heldBy(slot).map(wirePrefix);
    context.send({ kind: "set-allowed-ips", slot, prefixes });
  }
}
