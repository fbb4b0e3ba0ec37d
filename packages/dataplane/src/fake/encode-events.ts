import { ENDPOINT_BYTES, type EngineEvent, RECORD_HEADER_BYTES, type WireEndpoint } from "../core/engine-port.ts";
import { viewOf } from "../core/handshake/bytes.ts";

/** One event as the record the engine writes. */
export function encodeEvent(event: EngineEvent): Uint8Array {
  const body = new Uint8Array(bodyBytesOf(event) + messageOf(event).length);
  writeBody(body, event);
  const record = new Uint8Array(RECORD_HEADER_BYTES + body.length);
  record[0] = KIND_NUMBERS[event.kind];
  record[1] = flagsOf(event);
  if (event.kind === "shard-failed") viewOf(record).setUint16(2, event.shard, true);
  viewOf(record).setUint32(4, body.length, true);
  record.set(body, RECORD_HEADER_BYTES);
  return record;
}

function messageOf(event: EngineEvent): Uint8Array {
  if (!("message" in event)) return new Uint8Array(0);
  return typeof event.message === "string" ? new TextEncoder().encode(event.message) : event.message;
}

function bodyBytesOf(event: EngineEvent): number {
  switch (event.kind) {
    case "handshake-message":
    case "cookie-wanted":
      return ENDPOINT_BYTES;
    case "endpoint-moved":
      return 4 + ENDPOINT_BYTES;
    case "no-answer":
    case "large-sent":
      return 4;
    case "shard-failed":
      return 0;
    case "probe-answered":
      return 12;
    case "want-handshake":
    case "session-confirmed":
    case "queue-overflow":
    case "io-fault":
    case "session-expired":
    case "path-too-big":
      return 8;
  }
}

function writeBody(body: Uint8Array, event: EngineEvent): void {
  const view = viewOf(body);
  switch (event.kind) {
    case "handshake-message":
    case "cookie-wanted":
      writeEndpoint(body, 0, event.from);
      body.set(event.message, ENDPOINT_BYTES);
      return;
    case "want-handshake":
      view.setUint32(0, event.slot, true);
      view.setUint8(4, REASONS.indexOf(event.reason));
      return;
    case "session-confirmed":
    case "session-expired":
      view.setUint32(0, event.slot, true);
      view.setUint32(4, event.localIndex, true);
      return;
    case "endpoint-moved":
      view.setUint32(0, event.slot, true);
      writeEndpoint(body, 4, event.endpoint);
      return;
    case "no-answer":
    case "large-sent":
      view.setUint32(0, event.slot, true);
      return;
    case "shard-failed":
      body.set(messageOf(event));
      return;
    case "probe-answered":
      view.setUint32(0, event.slot, true);
      view.setUint32(4, event.id, true);
      view.setUint32(8, event.size, true);
      return;
    case "path-too-big":
      view.setUint32(0, event.slot, true);
      view.setUint32(4, event.payload, true);
      return;
    case "queue-overflow":
      view.setUint32(0, event.dropped, true);
      return;
    case "io-fault":
      view.setUint8(0, OPERATIONS.indexOf(event.operation));
      view.setUint8(1, event.severity === "fatal" ? 1 : 0);
      view.setInt32(4, event.errno, true);
  }
}

function writeEndpoint(body: Uint8Array, at: number, endpoint: WireEndpoint | null): void {
  if (!endpoint) return;
  const view = viewOf(body);
  view.setUint8(at, endpoint.address.length === 4 ? 4 : 6);
  view.setUint16(at + 2, endpoint.port, true);
  body.set(endpoint.address, at + 4);
}

function flagsOf(event: EngineEvent): number {
  if (event.kind !== "handshake-message") return 0;
  return (event.load === "high" ? 1 : 0) | (event.mac2 === "valid" ? 2 : 0);
}

const KIND_NUMBERS = {
  "handshake-message": 1,
  "cookie-wanted": 2,
  "want-handshake": 3,
  "session-confirmed": 4,
  "endpoint-moved": 5,
  "no-answer": 6,
  "queue-overflow": 7,
  "io-fault": 8,
  "session-expired": 9,
  "shard-failed": 14,
  "probe-answered": 10,
  "path-too-big": 11,
  "large-sent": 12,
} as const satisfies Record<EngineEvent["kind"], number>;
const REASONS = ["no-session", "old-sent", "old-received"];
const OPERATIONS = ["tun-read", "tun-write", "udp-receive", "udp-send", "poll"];
