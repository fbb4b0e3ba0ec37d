import type { WireEndpoint } from "../core/engine-port.ts";
import { cookieOf, cookieSender } from "../core/handshake/cookie.ts";
import { hasValidMac1, hasValidMac2 } from "../core/handshake/macs.ts";
import { endpointFromWire, wireEndpoint } from "../core/wire-address.ts";
import { inPrefix, parsePacket } from "./inner-packet.ts";
import { reveal } from "./memory-conceal.ts";
import type { MemoryEngineState } from "./memory-engine-state.ts";
import type { MemoryPeer } from "./memory-peer.ts";
import { handleExtension, isExtension } from "./memory-probes.ts";
import { confirm } from "./memory-sessions.ts";
import { openTransport } from "./memory-transport.ts";
import type { Datagram } from "./virtual-network.ts";

/** Everything a datagram goes through on its way in. */
export function receiveDatagram(state: MemoryEngineState, datagram: Datagram): void {
  const from = wireEndpoint(datagram.from);
  const found = reveal(datagram.payload, state.conceal);
  if (!found) state.dropped += 1n;
  else if (found.kind === "transport") receiveTransport(state, from, found.message);
  else receiveHandshake(state, { from, ...found });
}

type Handshake = { readonly from: WireEndpoint; readonly kind: string; readonly message: Uint8Array };

/** MAC1 always, MAC2 while under load; a cookie reply carries neither. */
function receiveHandshake(state: MemoryEngineState, { from, kind, message }: Handshake): void {
  const { primitives, mac1Key } = state.input.local;
  const { load } = state;
  const isCookieReply = kind === "cookie-reply";
  if (!isCookieReply && !hasValidMac1(primitives, message, mac1Key)) return;
  const sender = cookieSender(from.address, from.port);
  const isProven = state.cookieSecrets.some((secret) =>
    hasValidMac2(primitives, message, cookieOf(primitives, secret, sender)),
  );
  if (load === "high" && !isCookieReply && !isProven) state.emit({ kind: "cookie-wanted", from, message });
  else state.emit({ kind: "handshake-message", from, message, load, mac2: isProven ? "valid" : "absent" });
}

function receiveTransport(state: MemoryEngineState, from: WireEndpoint, datagram: Uint8Array): void {
  const opened = openTransport(state, datagram);
  if (!opened) {
    state.dropped += 1n;
    return;
  }
  const { session, inner } = opened;
  const { peer } = session;
  confirm(state, session);
  followPeer(state, peer, from);
  if (isExtension(inner)) return handleExtension(state, session, inner);
  peer.rxPackets += 1n;
  peer.rxBytes += BigInt(inner.length);
  if (inner.length === 0) return;
  peer.owesAnswerSinceMs ??= state.input.clock.nowMs();
  const packet = parsePacket(inner);
  const isFromPeer = packet && peer.prefixes.some((prefix) => inPrefix(packet.source, prefix));
  const passage = { direction: "in", slot: peer.slot, bytes: inner.length, nowMs: state.input.clock.nowMs() } as const;
  if (isFromPeer && state.filter.passes(packet, passage)) state.input.deliver(inner);
  else state.dropped += 1n;
}

function followPeer(state: MemoryEngineState, peer: MemoryPeer, from: WireEndpoint): void {
  peer.unansweredSinceMs = null;
  peer.receivedAtMs = state.input.clock.nowMs();
  const known = peer.endpoint && endpointFromWire(peer.endpoint);
  if (known === endpointFromWire(from)) return;
  peer.endpoint = from;
  state.emit({ kind: "endpoint-moved", slot: peer.slot, endpoint: from });
}
