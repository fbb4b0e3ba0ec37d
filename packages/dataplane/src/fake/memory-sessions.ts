import type { SessionAgeing, SessionExtensions } from "../core/engine-port.ts";
import type { SessionKeys } from "../core/handshake/session-keys.ts";
import { KEEPALIVE_MS, REJECT_AFTER_MS, REKEY_AFTER_MS, REKEY_RETRY_MS } from "../core/session-timers.ts";
import type { MemoryEngineState } from "./memory-engine-state.ts";
import { type MemoryPeer, type MemorySession, sessionsOf } from "./memory-peer.ts";
import { sealTransport, wantHandshake } from "./memory-transport.ts";

/** An initiator's session is used at once; a responder's waits for its first packet. */
export function installInto(
  state: MemoryEngineState,
  peer: MemoryPeer,
  {
    keys,
    extensions,
    ageing,
  }: {
    readonly keys: SessionKeys;
    readonly extensions: SessionExtensions;
    readonly ageing: SessionAgeing | null;
  },
): void {
  const installedAtMs = state.input.clock.nowMs();
  const session: MemorySession = {
    keys,
    peer,
    installedAtMs,
    extensions,
    ageing: ageing ?? WIREGUARD_AGEING,
    sendCounter: 0n,
    seen: new Set(),
  };
  state.sessions.set(keys.localIndex, session);
  peer.handshake = "not-wanted";
  if (keys.role === "initiator") {
    forget(state, peer.previous);
    forget(state, peer.elder);
    peer.elder = peer.next ? peer.current : null;
    peer.previous = peer.next ?? peer.current;
    peer.current = session;
    peer.next = null;
  } else {
    forget(state, peer.next);
    peer.next = session;
  }
}

/** A packet came in under this session. */
export function confirm(state: MemoryEngineState, session: MemorySession): void {
  const { peer } = session;
  if (peer.next !== session) return;
  forget(state, peer.previous);
  forget(state, peer.elder);
  peer.elder = null;
  peer.previous = peer.current;
  peer.current = session;
  peer.next = null;
  peer.handshake = "not-wanted";
  state.emit({ kind: "session-confirmed", slot: peer.slot, localIndex: session.keys.localIndex });
  const waiting = peer.queue;
  peer.queue = [];
  for (const inner of waiting) sealTransport(state, peer, inner);
}

export function dropSession(state: MemoryEngineState, localIndex: number): void {
  const session = state.sessions.get(localIndex);
  if (!session) return;
  const { peer } = session;
  state.sessions.delete(localIndex);
  if (peer.elder === session) peer.elder = null;
  if (peer.previous === session) peer.previous = null;
  if (peer.current === session) peer.current = null;
  if (peer.next === session) peer.next = null;
}

/** Keepalives, silence, and the end of sessions. */
export function tickPeer(state: MemoryEngineState, peer: MemoryPeer): void {
  const nowMs = state.input.clock.nowMs();
  for (const session of sessionsOf(peer)) {
    if (nowMs - session.installedAtMs < session.ageing.rejectAfterMs) continue;
    const { localIndex } = session.keys;
    dropSession(state, localIndex);
    peer.handshake = "not-wanted";
    state.emit({ kind: "session-expired", slot: peer.slot, localIndex });
  }
  if (peer.owesAnswerSinceMs !== null && nowMs - peer.owesAnswerSinceMs >= state.silence.keepaliveMs.low) {
    sealTransport(state, peer, NOTHING);
  }
  if (peer.unansweredSinceMs !== null && nowMs - peer.unansweredSinceMs >= state.silence.noAnswerMs.low) {
    peer.unansweredSinceMs = nowMs;
    state.emit({ kind: "no-answer", slot: peer.slot });
  }
  if (peer.keepaliveSeconds === 0 || nowMs - peer.sentAtMs < peer.keepaliveSeconds * 1_000) return;
  if (peer.current) sealTransport(state, peer, NOTHING);
  else wantHandshake(state, peer, "no-session");
}

function forget(state: MemoryEngineState, session: MemorySession | null): void {
  if (session) state.sessions.delete(session.keys.localIndex);
}

export const ENGINE_TICK_MS = 250;
const WIREGUARD_AGEING: SessionAgeing = {
  rekeyOnSendMs: REKEY_AFTER_MS,
  rekeyOnReceiveMs: REJECT_AFTER_MS - KEEPALIVE_MS - REKEY_RETRY_MS,
  rejectAfterMs: REJECT_AFTER_MS,
};
const NOTHING = new Uint8Array(0);
