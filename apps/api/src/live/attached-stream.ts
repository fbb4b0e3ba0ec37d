import type { PeerId } from "@weft/protocol";
import type { AgentSocket } from "./agent-socket.ts";
import { createDesiredState } from "./desired-state.ts";
import type { DesiredState } from "./desired-state.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** A proven node on an open connection, and how far its map is. */
export type AttachedStream = {
  readonly peerId: PeerId;
  readonly socket: AgentSocket;
  readonly desired: DesiredState;
  sentSequence: bigint;
  /** When the last whole map went out, by the process's own clock; never at first. */
  snapshotSentMs: number;
  /** When the newest change that was sent had been made. */
  sentChangeAtMs: number;
  appliedSequence: bigint | undefined;
  appliedAfterMs: number | null;
  lastHeardMs: number;
  nextPingMs: number;
};

/** Makes a stream for a node that was just proven. */
export function attachStream(node: {
  readonly peerId: PeerId;
  readonly socket: AgentSocket;
  readonly mirror: NetworkMirror;
  readonly nowMs: number;
}): AttachedStream {
  return {
    peerId: node.peerId,
    socket: node.socket,
    desired: createDesiredState(node.mirror, node.peerId),
    sentSequence: 0n,
    snapshotSentMs: Number.NEGATIVE_INFINITY,
    sentChangeAtMs: node.nowMs,
    appliedSequence: undefined,
    appliedAfterMs: null,
    lastHeardMs: node.nowMs,
    nextPingMs: node.nowMs,
  };
}
