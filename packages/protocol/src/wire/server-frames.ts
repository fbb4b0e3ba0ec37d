import type { MessageShape } from "@bufbuild/protobuf";

import { MAP_PART_BYTES_MAX, type ServerFrame } from "../frames.ts";
import { jobIds, peerIds } from "../ids.ts";
import { keyBytes, serverKeyFromBytes } from "../keys.ts";
import type { ChallengeSchema, ServerEnvelopeSchema } from "./agent_pb.ts";
import { bounded, oneOf, parsed, safeNumber, sized, text, within, word } from "./checks.ts";
import {
  byeFromWire,
  HASH_BYTES,
  isChannelBinding,
  sharedToWire,
  SIGNATURE_BYTES,
  versionFromWire,
  wallClockFromWire,
  wallClockToWire,
  type ServerInit,
} from "./shared-frames.ts";
import { workFromWire, workToWire } from "./job-work.ts";

export function serverToWire(frame: ServerFrame): ServerInit {
  switch (frame.kind) {
    case "challenge":
      return { case: "challenge", value: { ...frame, serverKey: keyBytes(frame.serverKey) } };
    case "welcome": {
      const wallClockMs = wallClockToWire(frame.wallClockMs);
      return { case: "welcome", value: { ...frame, peerId: peerIds.toBytes(frame.peerId), wallClockMs } };
    }
    case "mapBegin":
      return {
        case: "mapBegin",
        value: {
          version: versionOf(frame),
          compression: frame.compression,
          bodyBytes: frame.bodyBytes,
          partCount: frame.partCount,
        },
      };
    case "mapPart":
      return { case: "mapPart", value: { index: frame.index, bytes: frame.bytes } };
    case "mapEnd":
      return {
        case: "mapEnd",
        value: { timeMs: BigInt(frame.timeMs), partsHash: frame.partsHash, signature: frame.signature },
      };
    case "delta":
      return {
        case: "delta",
        value: {
          version: versionOf(frame),
          baseSequence: frame.baseSequence,
          timeMs: BigInt(frame.timeMs),
          body: frame.body,
          signature: frame.signature,
        },
      };
    case "watch":
      return { case: "watch", value: { intervalMs: frame.intervalMs } };
    case "job":
      return {
        case: "job",
        value: {
          jobId: jobIds.toBytes(frame.jobId),
          timeLimitMs: frame.timeLimitMs,
          work: workToWire(frame.work),
        },
      };
    case "jobCancel":
      return { case: "jobCancel", value: { jobId: jobIds.toBytes(frame.jobId) } };
    case "ping":
    case "pong":
    case "bye":
    case "unsupported":
      return sharedToWire(frame);
  }
}

/** Returns `null` for a kind that this version does not know. */
export function serverFromWire(frame: MessageShape<typeof ServerEnvelopeSchema>["frame"]): ServerFrame | null {
  switch (frame.case) {
    case "challenge":
      return challengeFromWire(frame.value);
    case "welcome":
      return {
        kind: "welcome",
        peerId: parsed("welcome.peer_id", peerIds.fromBytes(frame.value.peerId)),
        epoch: frame.value.epoch,
        heartbeatMs: within("welcome.heartbeat", frame.value.heartbeatMs, { min: 100, max: 600_000 }),
        mode: word("welcome.mode", frame.value.mode, oneOf(["resume", "snapshot"])),
        wallClockMs: wallClockFromWire("welcome.wall_clock", frame.value.wallClockMs),
      };
    case "mapBegin":
      return {
        kind: "mapBegin",
        ...versionFromWire("map_begin.version", frame.value.version),
        compression: word("map_begin.compression", frame.value.compression, oneOf(["none", "deflate"])),
        bodyBytes: frame.value.bodyBytes,
        partCount: frame.value.partCount,
      };
    case "mapPart":
      return {
        kind: "mapPart",
        index: frame.value.index,
        bytes: bounded("map_part.bytes", frame.value.bytes, MAP_PART_BYTES_MAX),
      };
    case "mapEnd":
      return {
        kind: "mapEnd",
        timeMs: safeNumber("map_end.time", frame.value.timeMs),
        partsHash: sized("map_end.parts_hash", frame.value.partsHash, HASH_BYTES),
        signature: sized("map_end.signature", frame.value.signature, SIGNATURE_BYTES),
      };
    case "delta":
      return {
        kind: "delta",
        ...versionFromWire("delta.version", frame.value.version),
        baseSequence: frame.value.baseSequence,
        timeMs: safeNumber("delta.time", frame.value.timeMs),
        body: frame.value.body,
        signature: sized("delta.signature", frame.value.signature, SIGNATURE_BYTES),
      };
    case "watch":
      return {
        kind: "watch",
        intervalMs: within("watch.interval", frame.value.intervalMs, { min: 100, max: 600_000 }),
      };
    case "job":
      return {
        kind: "job",
        jobId: parsed("job.id", jobIds.fromBytes(frame.value.jobId)),
        timeLimitMs: within("job.time_limit", frame.value.timeLimitMs, { min: 1, max: 600_000 }),
        work: workFromWire(frame.value.work),
      };
    case "jobCancel":
      return { kind: "jobCancel", jobId: parsed("job_cancel.id", jobIds.fromBytes(frame.value.jobId)) };
    case "ping":
      return { kind: "ping", token: frame.value.token };
    case "pong":
      return {
        kind: "pong",
        token: frame.value.token,
        wallClockMs: wallClockFromWire("pong.wall_clock", frame.value.wallClockMs),
      };
    case "bye":
      return byeFromWire(frame.value);
    case "unsupported":
      return { kind: "unsupported", frameNumber: frame.value.frameNumber };
    case undefined:
      return null;
  }
}

function challengeFromWire(message: MessageShape<typeof ChallengeSchema>): ServerFrame {
  return {
    kind: "challenge",
    serverKey: parsed("challenge.server_key", serverKeyFromBytes(message.serverKey)),
    serverNonce: sized("challenge.server_nonce", message.serverNonce, HASH_BYTES),
    exchangeKey: sized("challenge.exchange_key", message.exchangeKey, HASH_BYTES),
    serverVersion: text("challenge.server_version", message.serverVersion, 64),
    protocolMin: message.protocolMin,
    protocolMax: message.protocolMax,
    channelBinding: word("challenge.channel_binding", message.channelBinding, isChannelBinding),
    signature: sized("challenge.signature", message.signature, SIGNATURE_BYTES),
  };
}

function versionOf(frame: { readonly epoch: bigint; readonly sequence: bigint }): {
  readonly epoch: bigint;
  readonly sequence: bigint;
} {
  return { epoch: frame.epoch, sequence: frame.sequence };
}
