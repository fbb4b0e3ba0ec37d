import { create, toBinary, type Message } from "@bufbuild/protobuf";

import { FRAME_BYTES_MAX, type AgentFrame, type ServerFrame } from "./frames.ts";
import { err, ok, type Result } from "./result.ts";
import { AgentEnvelopeSchema, ServerEnvelopeSchema } from "./wire/agent_pb.ts";
import { agentFromWire, agentToWire } from "./wire/agent-frames.ts";
import { decodeWith, type DecodeError } from "./wire/decode.ts";
import { serverFromWire, serverToWire } from "./wire/server-frames.ts";

export type { DecodeError } from "./wire/decode.ts";
export { PORT_RANGES_MAX } from "./wire/map-filter.ts";
export { decodeDeltaBody, decodeMapBody, encodeDeltaBody, encodeMapBody, MAP_BODY_BYTES_MAX } from "./wire/map-body.ts";

/** One binary WebSocket message towards an agent. */
export function encodeServerFrame(frame: ServerFrame): Uint8Array {
  return toBinary(ServerEnvelopeSchema, create(ServerEnvelopeSchema, { frame: serverToWire(frame) }));
}

/** One binary WebSocket message towards the server. */
export function encodeAgentFrame(frame: AgentFrame): Uint8Array {
  return toBinary(AgentEnvelopeSchema, create(AgentEnvelopeSchema, { frame: agentToWire(frame) }));
}

/** Reads what a server sent; never throws, whatever the bytes are. */
export function decodeServerFrame(bytes: Uint8Array): Result<ServerFrame, DecodeError> {
  const input = { bytes, bytesMax: FRAME_BYTES_MAX };
  const read = decodeWith(ServerEnvelopeSchema, input, (envelope) => ({
    frame: serverFromWire(envelope.frame),
    envelope,
  }));
  return read.ok ? known(read.value.frame, read.value.envelope) : read;
}

/** Reads what an agent sent; never throws, whatever the bytes are. */
export function decodeAgentFrame(bytes: Uint8Array): Result<AgentFrame, DecodeError> {
  const input = { bytes, bytesMax: FRAME_BYTES_MAX };
  const read = decodeWith(AgentEnvelopeSchema, input, (envelope) => ({
    frame: agentFromWire(envelope.frame),
    envelope,
  }));
  return read.ok ? known(read.value.frame, read.value.envelope) : read;
}

/** A kind from a newer side arrives as an unknown field of the envelope; its number is named in the answer. */
function known<Frame>(frame: Frame | null, envelope: Message): Result<Frame, DecodeError> {
  if (frame !== null) return ok(frame);
  return err({ code: "unsupported", frameNumber: envelope.$unknown?.[0]?.no ?? 0 });
}
