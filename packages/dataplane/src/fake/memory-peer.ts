import type { SessionAgeing, SessionExtensions, WireEndpoint, WirePrefix } from "../core/engine-port.ts";
import type { SessionKeys } from "../core/handshake/session-keys.ts";

/** One peer inside the in-memory engine. */
export type MemoryPeer = {
  readonly slot: number;
  keepaliveSeconds: number;
  endpoint: WireEndpoint | null;
  prefixes: readonly WirePrefix[];
  elder: MemorySession | null;
  previous: MemorySession | null;
  current: MemorySession | null;
  next: MemorySession | null;
  queue: Uint8Array[];
  handshake: "wanted" | "not-wanted";
  /** Data went out at that time and nothing came back since. */
  unansweredSinceMs: number | null;
  /** Data came in at that time and nothing went out since. */
  owesAnswerSinceMs: number | null;
  /** Whether its path-MTU probes are answered. */
  probes: "answered" | "ignored";
  wantsLargeSent: boolean;
  sentAtMs: number;
  receivedAtMs: number | null;
  rxPackets: bigint;
  txPackets: bigint;
  rxBytes: bigint;
  txBytes: bigint;
};

export type MemorySession = {
  readonly keys: SessionKeys;
  readonly peer: MemoryPeer;
  readonly installedAtMs: number;
  readonly extensions: SessionExtensions;
  readonly ageing: SessionAgeing;
  sendCounter: bigint;
  readonly seen: Set<bigint>;
};

export function createMemoryPeer(slot: number, keepaliveSeconds: number, nowMs: number): MemoryPeer {
  return {
    slot,
    keepaliveSeconds,
    endpoint: null,
    prefixes: [],
    elder: null,
    previous: null,
    current: null,
    next: null,
    queue: [],
    handshake: "not-wanted",
    unansweredSinceMs: null,
    owesAnswerSinceMs: null,
    probes: "ignored",
    wantsLargeSent: false,
    sentAtMs: nowMs,
    receivedAtMs: null,
    rxPackets: 0n,
    txPackets: 0n,
    rxBytes: 0n,
    txBytes: 0n,
  };
}

export function sessionsOf(peer: MemoryPeer): readonly MemorySession[] {
  return [peer.elder, peer.previous, peer.current, peer.next].filter((session) => session !== null);
}
