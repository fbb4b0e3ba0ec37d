import { type CoreContext, type Moment, rearm } from "./core-context.ts";
import type { EngineEvent } from "./engine-port.ts";
import { decodeMessage } from "./handshake/messages.ts";
import { acceptCookieReply, acceptResponse, handleNoAnswer, startHandshake } from "./initiator-flow.ts";
import { feedPath } from "./path-mtu-flow.ts";
import { acceptInitiation } from "./responder-flow.ts";
import { confirmSession, forgetSession, noteHeard } from "./session-flow.ts";

/** What the engine tells about one peer. */
export type PeerEvent = Extract<EngineEvent, { readonly slot: number }>;
/** A handshake message the engine let through. */
export type MessageEvent = Extract<EngineEvent, { readonly kind: "handshake-message" }>;

export function handleMessage(context: CoreContext, event: MessageEvent, at: Moment): void {
  const { counters } = context;
  if (event.load === "high" && !context.sources.allow(sourceKey(event.from.address), at.nowMs)) {
    counters.droppedUnderLoad += 1;
    return;
  }
  const decoded = decodeMessage(event.message, context.conceal);
  if (!decoded.ok) {
    counters.droppedMalformed += 1;
    return;
  }
  const { from } = event;
  switch (decoded.value.kind) {
    case "initiation":
      return acceptInitiation(context, { message: decoded.value, from, at });
    case "response":
      return acceptResponse(context, { message: decoded.value, from, at });
    case "cookie-reply":
      return acceptCookieReply(context, { message: decoded.value, from, at });
  }
}

/** Events of peers that were removed meanwhile are late, not wrong. */
export function handlePeerEvent(context: CoreContext, event: PeerEvent, at: Moment): void {
  const peer = context.peers.at(event.slot);
  if (!peer) return;
  switch (event.kind) {
    case "want-handshake":
      return startHandshake(context, peer, at);
    case "no-answer":
      return handleNoAnswer(context, peer, at);
    case "session-confirmed":
      return confirmSession(context, peer, { localIndex: event.localIndex, nowMs: at.nowMs });
    case "endpoint-moved":
      if (event.endpoint) noteHeard(context, peer, { from: event.endpoint, nowMs: at.nowMs });
      return;
    case "session-expired":
      if (context.indices.get(event.localIndex) !== peer) return;
      if (forgetSession(context, peer, event.localIndex) === "none-left" && peer.desired.keepaliveSeconds > 0) {
        startHandshake(context, peer, at);
      }
      rearm(context, peer);
      return;
    case "probe-answered":
      return feedPath(context, peer, { kind: "answered", id: event.id, size: event.size, nowMs: at.nowMs });
    case "path-too-big":
      return feedPath(context, peer, { kind: "too-big", payload: event.payload, nowMs: at.nowMs });
    case "large-sent":
      return feedPath(context, peer, { kind: "large-sent", nowMs: at.nowMs });
  }
}

/** One IPv4 address, or one IPv6 network of the usual size, counts as one source. */
function sourceKey(address: Uint8Array): string {
  return (address.length === 4 ? address : address.subarray(0, IPV6_NETWORK_BYTES)).join(".");
}

const IPV6_NETWORK_BYTES = 8;
