import { type LinkProfile, publicKeyFromBytes } from "@weft/protocol";
import { type CoreContext, freshKey } from "./core-context.ts";
import type { WireEndpoint } from "./engine-port.ts";
import { compareBytes } from "./handshake/bytes.ts";
import { cookieSender, createCookieReply } from "./handshake/cookie.ts";
import { writeMacs } from "./handshake/macs.ts";
import type { InitiationMessage } from "./handshake/messages.ts";
import { EXTENDED_NONCE_BYTES } from "./handshake/primitives.ts";
import { openInitiation, type VerifiedInitiation } from "./handshake/responder.ts";
import { freshCookie, type Incoming } from "./initiator-flow.ts";
import { acceptable } from "./link-profiles.ts";
import { stampType } from "./message-types.ts";
import { type Peer, remoteIdentityOf } from "./peer.ts";
import { installSession } from "./session-flow.ts";
import { INITIATION_PAUSE_MS_MIN } from "./session-timers.ts";

/** Answers an initiation, if it is from a peer we know, fresh, and not too soon after the last one. */
export function acceptInitiation(context: CoreContext, incoming: Incoming<InitiationMessage>): void {
  const { counters } = context;
  const claimed = openInitiation(context.local, incoming.message);
  if (!claimed.ok) {
    counters.droppedBadTag += 1;
    return;
  }
  const peer = peerOf(context, claimed.value.claimedStatic);
  const remote = peer && remoteIdentityOf(peer, context.local);
  if (!peer || !remote) {
    counters.droppedUnknownPeer += 1;
    return;
  }
  const profiles = acceptable(peer.profiles);
  const verified = claimed.value.verify(
    remote,
    profiles.map(({ identifier }) => identifier),
  );
  if (!verified.ok) {
    counters.droppedBadTag += 1;
    return;
  }
  const verdict = freshness(peer, verified.value, incoming.at.nowMs);
  switch (verdict) {
    case "replay":
      counters.droppedReplay += 1;
      return;
    case "too-fast":
      counters.droppedTooFast += 1;
      return;
    case "fresh":
      peer.greatestTimestamp = verified.value.timestamp.slice();
      peer.initiationAcceptedAtMs = incoming.at.nowMs;
      respond(context, peer, {
        ...incoming,
        message: verified.value,
        profile: profiles[verified.value.profilePlace]?.profile ?? null,
      });
  }
}

/** Answers a message with a cookie: its sender has to show first that it gets what we send it. */
export function answerWithCookie(
  context: CoreContext,
  wanted: { readonly message: Uint8Array; readonly from: WireEndpoint; readonly secret: Uint8Array },
): void {
  const sender = cookieSender(wanted.from.address, wanted.from.port);
  const nonce = context.random(EXTENDED_NONCE_BYTES);
  const reply = createCookieReply({
    local: context.local,
    secret: wanted.secret,
    sender,
    message: wanted.message,
    nonce,
  });
  context.counters.cookieRepliesSent += 1;
  const message = stampType(reply, context.conceal, context.random);
  context.send({ kind: "send-handshake", slot: null, endpoint: wanted.from, message });
}

type Verified = Incoming<VerifiedInitiation> & { readonly profile: LinkProfile | null };

function respond(context: CoreContext, peer: Peer, verified: Verified): void {
  const remote = remoteIdentityOf(peer, context.local);
  if (!remote) return;
  const localIndex = context.indices.allocate(peer);
  const response = verified.message.respond({ ephemeral: freshKey(context), localIndex });
  if (!response.ok) {
    context.indices.release(localIndex);
    context.counters.droppedBadTag += 1;
    return;
  }
  const { keys } = response.value;
  const message = stampType(response.value.message, context.conceal, context.random);
  const cookie = freshCookie(peer, verified.at.nowMs);
  const mac1 = writeMacs(context.local.primitives, message, { mac1Key: remote.mac1Key, cookie });
  peer.lastSent = { localIndex, mac1 };
  context.counters.initiationsAccepted += 1;
  installSession(context, peer, { keys, profile: verified.profile, from: verified.from, at: verified.at });
  context.send({ kind: "send-handshake", slot: peer.slot, endpoint: verified.from, message });
}

function freshness(peer: Peer, initiation: VerifiedInitiation, nowMs: number): "fresh" | "replay" | "too-fast" {
  if (peer.greatestTimestamp && compareBytes(initiation.timestamp, peer.greatestTimestamp) <= 0) return "replay";
  const lastMs = peer.initiationAcceptedAtMs;
  return lastMs !== null && nowMs - lastMs < INITIATION_PAUSE_MS_MIN ? "too-fast" : "fresh";
}

function peerOf(context: CoreContext, staticKey: Uint8Array): Peer | undefined {
  const key = publicKeyFromBytes(staticKey);
  return key.ok ? context.peers.get(key.value) : undefined;
}
