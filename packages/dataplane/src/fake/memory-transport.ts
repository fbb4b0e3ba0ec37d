import { viewOf } from "../core/handshake/bytes.ts";
import { NONCE_BYTES } from "../core/handshake/primitives.ts";
import { declaredBytes } from "./inner-packet.ts";
import type { MemoryEngineState } from "./memory-engine-state.ts";
import type { MemoryPeer, MemorySession } from "./memory-peer.ts";

/** Seals one inner packet (empty = keepalive) under the current session and sends it. */
export function sealTransport(state: MemoryEngineState, peer: MemoryPeer, inner: Uint8Array): void {
  const { current } = peer;
  if (!current || !peer.endpoint) return;
  const nowMs = state.input.clock.nowMs();
  const padded = new Uint8Array(Math.ceil(inner.length / PADDING_BYTES) * PADDING_BYTES);
  padded.set(inner);
  peer.txPackets += 1n;
  peer.txBytes += BigInt(inner.length);
  if (inner.length > 0) peer.unansweredSinceMs ??= nowMs;
  sealPlaintext(state, peer, padded);
  const isOld = nowMs - current.installedAtMs >= current.ageing.rekeyOnSendMs;
  if (isOld && current.keys.role === "initiator") wantHandshake(state, peer, "old-sent");
}

/** Seals a plaintext as it is. */
export function sealPlaintext(state: MemoryEngineState, peer: MemoryPeer, plaintext: Uint8Array): void {
  const { current, endpoint } = peer;
  if (!current || !endpoint) return;
  const counter = current.sendCounter;
  current.sendCounter += 1n;
  const box = { key: current.keys.sendKey, nonce: nonceOf(counter), text: plaintext, associated: NOTHING };
  const sealed = state.input.local.primitives.seal(box);
  const datagram = new Uint8Array(HEADER_BYTES + sealed.length);
  const view = viewOf(datagram);
  view.setUint32(0, TRANSPORT_TYPE, true);
  view.setUint32(4, current.keys.remoteIndex, true);
  view.setBigUint64(8, counter, true);
  datagram.set(sealed, HEADER_BYTES);
  peer.sentAtMs = state.input.clock.nowMs();
  peer.owesAnswerSinceMs = null;
  state.transmit(endpoint, datagram);
}

/** Opens a transport message; null for everything that is not fresh, authentic and of a session we have. */
export function openTransport(
  state: MemoryEngineState,
  datagram: Uint8Array,
): { readonly session: MemorySession; readonly inner: Uint8Array } | null {
  if (datagram.length < HEADER_BYTES || datagram[0] !== TRANSPORT_TYPE) return null;
  const view = viewOf(datagram);
  const session = state.sessions.get(view.getUint32(4, true));
  const counter = view.getBigUint64(8, true);
  const ageMs = session ? state.input.clock.nowMs() - session.installedAtMs : 0;
  if (!session || session.seen.has(counter) || ageMs >= session.ageing.rejectAfterMs) return null;
  const text = datagram.subarray(HEADER_BYTES);
  const box = { key: session.keys.receiveKey, nonce: nonceOf(counter), text, associated: NOTHING };
  const inner = state.input.local.primitives.open(box);
  if (!inner) return null;
  session.seen.add(counter);
  const isOld = ageMs >= session.ageing.rekeyOnReceiveMs;
  if (isOld && session.keys.role === "initiator") wantHandshake(state, session.peer, "old-received");
  return { session, inner: withoutPadding(inner) };
}

export function wantHandshake(
  state: MemoryEngineState,
  peer: MemoryPeer,
  reason: "no-session" | "old-sent" | "old-received",
): void {
  if (peer.handshake === "wanted") return;
  peer.handshake = "wanted";
  state.emit({ kind: "want-handshake", slot: peer.slot, reason });
}

function withoutPadding(inner: Uint8Array): Uint8Array {
  return inner[0] === EXTENSION ? inner : inner.slice(0, declaredBytes(inner));
}

function nonceOf(counter: bigint): Uint8Array {
  const nonce = new Uint8Array(NONCE_BYTES);
  viewOf(nonce).setBigUint64(4, counter, true);
  return nonce;
}

const TRANSPORT_TYPE = 4;
const HEADER_BYTES = 16;
const PADDING_BYTES = 16;
const EXTENSION = 0xf1;
const NOTHING = new Uint8Array(0);
