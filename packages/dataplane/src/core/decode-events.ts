import type { Result } from "@weft/protocol";
import { viewOf } from "./handshake/bytes.ts";
import { ENDPOINT_BYTES, type EngineEvent, RECORD_HEADER_BYTES, type WireEndpoint } from "./engine-port.ts";

/** `offset` is where the bad record starts in the batch. */
export type EventError = {
  readonly code: "truncated" | "unknown_kind" | "wrong_length" | "bad_value";
  readonly offset: number;
};

/** Reads a batch of event records. Messages are copied out, so the batch may be reused. */
export function decodeEvents(batch: Uint8Array): Result<readonly EngineEvent[], EventError> {
  const events: EngineEvent[] = [];
  for (let offset = 0; offset < batch.length;) {
    const fail = (code: EventError["code"]): Result<never, EventError> => ({ ok: false, error: { code, offset } });
    if (batch.length - offset < RECORD_HEADER_BYTES) return fail("truncated");
    const header = viewOf(batch.subarray(offset, offset + RECORD_HEADER_BYTES));
    const bodyBytes = header.getUint32(4, true);
    const bodyAt = offset + RECORD_HEADER_BYTES;
    if (batch.length - bodyAt < bodyBytes) return fail("truncated");
    const event = decodeEvent(header, batch.subarray(bodyAt, bodyAt + bodyBytes));
    if (typeof event === "string") return fail(event);
    events.push(event);
    offset = bodyAt + bodyBytes;
  }
  return { ok: true, value: events };
}

function decodeEvent(header: DataView, body: Uint8Array): EngineEvent | EventError["code"] {
  const kind = header.getUint8(0);
  const fixedBytes = FIXED_BODY_BYTES.get(kind);
  if (fixedBytes === undefined) return decodeLongEvent(header, body);
  if (body.length !== fixedBytes) return "wrong_length";
  return decodeFixedEvent(kind, viewOf(body));
}

function decodeLongEvent(header: DataView, body: Uint8Array): EngineEvent | EventError["code"] {
  switch (header.getUint8(0)) {
    case 1:
    case 2:
      return decodeMessageEvent(header, body);
    case 14:
      if (body.length > FAILURE_BYTES_MAX) return "wrong_length";
      return { kind: "shard-failed", shard: header.getUint16(2, true), message: TEXT.decode(body) };
    default:
      return "unknown_kind";
  }
}

function decodeMessageEvent(header: DataView, body: Uint8Array): EngineEvent | EventError["code"] {
  if (body.length < ENDPOINT_BYTES) return "wrong_length";
  const from = readEndpoint(viewOf(body), 0);
  if (!from) return "bad_value";
  const message = new Uint8Array(body.subarray(ENDPOINT_BYTES));
  if (header.getUint8(0) === 2) return { kind: "cookie-wanted", from, message };
  const flags = header.getUint8(1);
  const load = (flags & 1) === 0 ? "normal" : "high";
  const mac2 = (flags & 2) === 0 ? "absent" : "valid";
  return { kind: "handshake-message", from, message, load, mac2 };
}

function decodeFixedEvent(kind: number, body: DataView): EngineEvent | EventError["code"] {
  const slot = body.getUint32(0, true);
  switch (kind) {
    case 3: {
      const reason = REASONS[body.getUint8(4)];
      return reason ? { kind: "want-handshake", slot, reason } : "bad_value";
    }
    case 4:
      return { kind: "session-confirmed", slot, localIndex: body.getUint32(4, true) };
    case 5: {
      const endpoint = readEndpoint(body, 4);
      return endpoint === undefined ? "bad_value" : { kind: "endpoint-moved", slot, endpoint };
    }
    case 6:
      return { kind: "no-answer", slot };
    case 7:
      return { kind: "queue-overflow", dropped: slot };
    case 8: {
      const operation = OPERATIONS[body.getUint8(0)];
      if (!operation) return "bad_value";
      const severity = body.getUint8(1) === 0 ? "passing" : "fatal";
      return { kind: "io-fault", operation, severity, errno: body.getInt32(4, true) };
    }
    case 9:
      return { kind: "session-expired", slot, localIndex: body.getUint32(4, true) };
    case 10:
      return { kind: "probe-answered", slot, id: body.getUint32(4, true), size: body.getUint32(8, true) };
    case 11:
      return { kind: "path-too-big", slot, payload: body.getUint32(4, true) };
    case 12:
      return { kind: "large-sent", slot };
    default:
      return "unknown_kind";
  }
}

/** Null for "none", undefined for a family that does not exist. */
function readEndpoint(body: DataView, at: number): WireEndpoint | null | undefined {
  const family = body.getUint8(at);
  if (family === 0) return null;
  if (family !== 4 && family !== 6) return undefined;
  const start = body.byteOffset + at + 4;
  const address = new Uint8Array(body.buffer, start, family === 4 ? 4 : 16).slice();
  return { address, port: body.getUint16(at + 2, true) };
}

const FIXED_BODY_BYTES: ReadonlyMap<number, number> = new Map([
  [3, 8],
  [4, 8],
  [5, 4 + ENDPOINT_BYTES],
  [6, 4],
  [7, 8],
  [8, 8],
  [9, 8],
  [10, 12],
  [11, 8],
  [12, 4],
]);
const TEXT = new TextDecoder("utf-8", { ignoreBOM: true });
const FAILURE_BYTES_MAX = 256;
const REASONS = ["no-session", "old-sent", "old-received"] as const;
const OPERATIONS = ["tun-read", "tun-write", "udp-receive", "udp-send", "poll"] as const;
