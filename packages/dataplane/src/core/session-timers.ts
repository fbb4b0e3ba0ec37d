import { createDeadlines } from "./deadlines.ts";

/** The moments at which something must happen although nothing arrives. */
export type SessionTimers = {
  /** Arms, moves or (with null) disarms the one timer of a peer. */
  readonly arm: (slot: number, atMs: number | null) => void;
  /** When `handleTimeout` wants to be called next. */
  readonly nextTimeoutMs: () => number;
  /** Runs what is due: at most `TIMERS_PER_TURN_MAX` peers, so that one turn stays short. */
  readonly handleTimeout: (nowMs: number) => void;
};

export type TimerHandlers = {
  readonly onPeerDue: (slot: number) => void;
  readonly onCookieRotation: () => void;
};

/** One wheel for all peers and for the cookie secrets, which rotate from the start on. */
export function createSessionTimers(nowMs: number, handlers: TimerHandlers): SessionTimers {
  const peers = createDeadlines();
  let rotateAtMs = nowMs + COOKIE_ROTATION_MS;
  return {
    arm: (slot, atMs) => peers.set(slot, atMs),
    nextTimeoutMs: () => Math.min(rotateAtMs, peers.nextAtMs() ?? rotateAtMs),
    handleTimeout(now) {
      if (now >= rotateAtMs) {
        handlers.onCookieRotation();
        rotateAtMs = now + COOKIE_ROTATION_MS;
      }
      for (let turn = 0; turn < TIMERS_PER_TURN_MAX; turn += 1) {
        const slot = peers.takeDue(now);
        if (slot === null) return;
        handlers.onPeerDue(slot);
      }
    },
  };
}

/** Age at which the initiator of a session starts the next one. */
export const REKEY_AFTER_MS = 120_000;
/** Age at which a session is no longer used. */
export const REJECT_AFTER_MS = 180_000;
/** Time after which a handshake without an answer is given up. */
export const REKEY_GIVE_UP_MS = 90_000;
/** Pause between two initiations to the same peer. */
export const REKEY_RETRY_MS = 5_000;
/** Random addition to every retry, so that two ends do not stay in step. */
export const RETRY_JITTER_MS_MAX = 333;
/** Silence after a received packet before it is answered with an empty one. */
export const KEEPALIVE_MS = 10_000;
/** Smallest pause between two initiations accepted from one peer: 50 per second. */
export const INITIATION_PAUSE_MS_MIN = 20;
const COOKIE_ROTATION_MS = 120_000;
const TIMERS_PER_TURN_MAX = 64;
