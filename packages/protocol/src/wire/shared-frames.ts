import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { isByeDetail, isByeReason } from "../bye.ts";
import type { SharedFrame } from "../frames.ts";
import type { MapVersion } from "../network-map.ts";
import type { AgentEnvelopeSchema, ByeSchema, MapVersionSchema, ServerEnvelopeSchema } from "./agent_pb.ts";
import { oneOf, present, safeNumber, text } from "./checks.ts";

/** The oneof of an envelope as the library wants it. */
export type ServerInit = NonNullable<MessageInitShape<typeof ServerEnvelopeSchema>["frame"]>;
export type AgentInit = NonNullable<MessageInitShape<typeof AgentEnvelopeSchema>["frame"]>;

export function sharedToWire(frame: SharedFrame): ServerInit & AgentInit {
  switch (frame.kind) {
    case "ping":
      return { case: "ping", value: { token: frame.token } };
    case "pong":
      return { case: "pong", value: { token: frame.token, wallClockMs: wallClockToWire(frame.wallClockMs) } };
    case "bye":
      return {
        case: "bye",
        value: { reason: frame.reason, detail: frame.detail, message: frame.message, retryAfterMs: frame.retryAfterMs },
      };
    case "unsupported":
      return { case: "unsupported", value: { frameNumber: frame.frameNumber } };
  }
}

/** No clock is told as 0; one before 1970 cannot be told. */
export function wallClockToWire(wallClockMs: number | null): bigint {
  return BigInt(Math.max(0, Math.floor(wallClockMs ?? 0)));
}

export function wallClockFromWire(field: string, value: bigint): number | null {
  return value === 0n ? null : safeNumber(field, value);
}

/** A reason or detail from a newer side is kept as its nearest meaning instead of being refused. */
export function byeFromWire(message: MessageShape<typeof ByeSchema>): SharedFrame {
  return {
    kind: "bye",
    reason: isByeReason(message.reason) ? message.reason : "protocol_error",
    detail: isByeDetail(message.detail) ? message.detail : "none",
    message: text("bye.message", message.message, 1000),
    retryAfterMs: message.retryAfterMs,
  };
}

export function versionFromWire(field: string, message: MessageShape<typeof MapVersionSchema> | undefined): MapVersion {
  const { epoch, sequence } = present(field, message);
  return { epoch, sequence };
}

export const isChannelBinding = oneOf(["none", "tls-exporter"]);
/** Length of a nonce, a hash, a key. */
export const HASH_BYTES = 32;
/** Length of an Ed25519 signature. */
export const SIGNATURE_BYTES = 64;
