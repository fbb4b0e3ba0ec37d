import { viewOf } from "../core/handshake/bytes.ts";
import type { MemoryEngineState } from "./memory-engine-state.ts";
import type { MemoryPeer, MemorySession } from "./memory-peer.ts";
import { sealPlaintext } from "./memory-transport.ts";

/** A path-MTU probe in a datagram of exactly that size. */
export function sendProbe(
  state: MemoryEngineState,
  peer: MemoryPeer,
  probe: { readonly size: number; readonly id: number },
): void {
  peer.wantsLargeSent = peer.probes === "answered";
  const plaintext = new Uint8Array(probe.size - DATA_OVERHEAD_BYTES);
  const view = viewOf(plaintext);
  view.setUint8(0, EXTENSION);
  view.setUint8(1, KIND_MTU_PROBE);
  view.setUint16(2, plaintext.length - HEADER_BYTES, true);
  view.setUint32(HEADER_BYTES, probe.id, true);
  sealExtension(state, peer, plaintext);
}

function speaks({ extensions, peer }: MemorySession): boolean {
  return extensions === "agreed" && peer.probes === "answered";
}

/** Only under a session that agreed on them. */
function sealExtension(state: MemoryEngineState, peer: MemoryPeer, plaintext: Uint8Array): void {
  if (peer.current && speaks(peer.current)) sealPlaintext(state, peer, plaintext);
}

export function isExtension(inner: Uint8Array): boolean {
  return inner[0] === EXTENSION;
}

/** Answers a probe, tells about an answer, ignores everything else. */
export function handleExtension(state: MemoryEngineState, session: MemorySession, inner: Uint8Array): void {
  const { peer } = session;
  if (!speaks(session) || inner.length < HEADER_BYTES + 4) return;
  const view = viewOf(inner);
  const id = view.getUint32(HEADER_BYTES, true);
  switch (view.getUint8(1)) {
    case KIND_MTU_PROBE:
      return sealExtension(state, peer, answer(id, inner.length + DATA_OVERHEAD_BYTES));
    case KIND_MTU_ANSWER:
      state.emit({ kind: "probe-answered", slot: peer.slot, id, size: view.getUint32(HEADER_BYTES + 4, true) });
  }
}

/** Tells once that something large went out, where the slow path waits for it. */
export function noteLarge(state: MemoryEngineState, peer: MemoryPeer, datagramBytes: number): void {
  if (!peer.wantsLargeSent || datagramBytes <= LARGE_FROM_BYTES) return;
  peer.wantsLargeSent = false;
  state.emit({ kind: "large-sent", slot: peer.slot });
}

function answer(id: number, size: number): Uint8Array {
  const plaintext = new Uint8Array(16);
  const view = viewOf(plaintext);
  view.setUint8(0, EXTENSION);
  view.setUint8(1, KIND_MTU_ANSWER);
  view.setUint16(2, 8, true);
  view.setUint32(HEADER_BYTES, id, true);
  view.setUint32(HEADER_BYTES + 4, size, true);
  return plaintext;
}

const EXTENSION = 0xf1;
const KIND_MTU_PROBE = 16;
const KIND_MTU_ANSWER = 17;
const HEADER_BYTES = 4;
const DATA_OVERHEAD_BYTES = 32;
const LARGE_FROM_BYTES = 1_232;
