import { createCoalescer } from "../domain/coalescer.ts";
import { guarded } from "../jobs/guarded.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { AttachedStream } from "./attached-stream.ts";
import type { DeltaRound, MapEncoder } from "./map-encoder.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** Sends what streams of one network still have to be told. */
export type MapSender = {
  /** The stream waits for a whole map; it is sent as soon as the processor is free. */
  readonly needsSnapshot: (stream: AttachedStream) => void;
  /** The stream has something pending; it goes out with the next round. */
  readonly needsDelta: (stream: AttachedStream) => void;
  readonly forget: (stream: AttachedStream) => void;
  readonly dispose: () => void;
};

type SenderDeps = {
  readonly mirror: NetworkMirror;
  readonly encoder: MapEncoder;
  readonly clock: WallClock;
  readonly onSent: (stream: AttachedStream) => void;
  readonly onError: (event: string, error: unknown) => void;
};

/**
 * The first change goes out at once, later ones within a window. Work is done in slices, so that a thousand returning
 * nodes never block the event loop; a stream whose network is full waits and gets the newest state later.
 */
export function createMapSender(deps: SenderDeps): MapSender {
  const { mirror, encoder, clock } = deps;
  const snapshots = new Set<AttachedStream>();
  const deltas = new Set<AttachedStream>();
  const coalescer = createCoalescer();
  let deltaTimer: NodeJS.Timeout | undefined;
  let snapshotTimer: NodeJS.Timeout | undefined;
  let isOver = false;
  const onFault = (error: unknown) => deps.onError("map_not_sent", error);
  /** One stream whose map fails is cut and comes again; the others get theirs. */
  const alone = (send: (stream: AttachedStream) => Sent) => (stream: AttachedStream) => {
    try {
      return send(stream);
    } catch (error) {
      onFault(error);
      stream.socket.cut();
      return "sent";
    }
  };

  const scheduleSnapshots = (delayMs: number) => {
    if (!isOver) snapshotTimer ??= setTimeout(guarded(sendSnapshots, onFault), delayMs);
  };
  const scheduleDeltas = (delayMs: number) => {
    if (!isOver) deltaTimer ??= setTimeout(guarded(sendDeltas, onFault), delayMs);
  };

  function sendSnapshots(): void {
    snapshotTimer = undefined;
    const sendOne = alone((stream) => {
      // A node that cannot read its map asks again at once; it must not keep us busy with nothing else.
      if (performance.now() - stream.snapshotSentMs < SNAPSHOT_PAUSE_MS) return "blocked";
      return sendSnapshot({ ...deps, stream });
    });
    const left = inSlices(snapshots, sendOne);
    if (left !== "done") scheduleSnapshots(left === "sliced" ? 0 : BLOCKED_RETRY_MS);
  }
  function sendDeltas(): void {
    deltaTimer = undefined;
    const round = encoder.round(mirror);
    const sendOne = alone((stream) => {
      if (!stream.desired.isSnapshotDue()) return sendDelta({ ...deps, stream, round });
      snapshots.add(stream);
      scheduleSnapshots(0);
      return "sent";
    });
    const left = inSlices(deltas, sendOne);
    coalescer.noteSent(clock.nowMs());
    if (left !== "done") scheduleDeltas(left === "sliced" ? 0 : BLOCKED_RETRY_MS);
  }

  return {
    needsSnapshot(stream) {
      snapshots.add(stream);
      scheduleSnapshots(0);
    },
    needsDelta(stream) {
      deltas.add(stream);
      const nowMs = clock.nowMs();
      scheduleDeltas(coalescer.noteChange(nowMs) - nowMs);
    },
    forget(stream) {
      snapshots.delete(stream);
      deltas.delete(stream);
    },
    dispose() {
      isOver = true;
      clearTimeout(deltaTimer);
      clearTimeout(snapshotTimer);
    },
  };
}

/** Handles members until a slice of time is used up; blocked ones stay for later. */
function inSlices(
  streams: Set<AttachedStream>,
  handle: (stream: AttachedStream) => Sent,
): "done" | "sliced" | "blocked" {
  const beganMs = performance.now();
  for (const stream of streams) {
    if (performance.now() - beganMs > SLICE_MS) return "sliced";
    if (handle(stream) === "sent") streams.delete(stream);
  }
  return streams.size === 0 ? "done" : "blocked";
}

function sendSnapshot(deps: SenderDeps & { readonly stream: AttachedStream }): Sent {
  const { mirror, encoder, onSent, stream } = deps;
  if (stream.socket.waitingBytes() > WAITING_BYTES_MAX) return "blocked";
  const frames = encoder.snapshot(mirror, stream.peerId);
  // Without a place in the mirror the node was removed; its stream is being closed.
  if (!frames) return "sent";
  for (const frame of frames) stream.socket.sendBytes(frame);
  stream.snapshotSentMs = performance.now();
  stream.desired.noteSentAll();
  noteSent(stream, mirror);
  onSent(stream);
  return "sent";
}

function sendDelta(deps: SenderDeps & { readonly stream: AttachedStream; readonly round: DeltaRound }): Sent {
  const { mirror, onSent, stream, round } = deps;
  if (stream.socket.waitingBytes() > WAITING_BYTES_MAX) return "blocked";
  const delta = stream.desired.takeDelta();
  if (!delta) return "sent";
  if (delta.upserts.length + delta.removals.length > DELTA_PEERS_MAX) {
    stream.desired.noteSnapshot();
    return sendSnapshot(deps);
  }
  stream.socket.sendBytes(round.encode(delta, stream.sentSequence));
  noteSent(stream, mirror);
  onSent(stream);
  return "sent";
}

function noteSent(stream: AttachedStream, mirror: NetworkMirror): void {
  stream.sentSequence = mirror.network().sequence;
  stream.sentChangeAtMs = mirror.changedAtMs();
}

/** "blocked": the network is full, or it is too early; the stream stays for later. */
type Sent = "sent" | "blocked";

const SLICE_MS = 20;
const BLOCKED_RETRY_MS = 100;
const SNAPSHOT_PAUSE_MS = 500;
const WAITING_BYTES_MAX = 1_000_000;
/** A longer list is cheaper as a compressed whole map, and would near the frame limit. */
const DELTA_PEERS_MAX = 400;
