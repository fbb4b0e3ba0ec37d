import {
  ENDPOINT_BYTES,
  type EngineCommand,
  NO_SLOT,
  PREFIX_BYTES,
  RECORD_HEADER_BYTES,
  type WireEndpoint,
} from "./engine-port.ts";
import { concealBytes, writeConceal } from "./encode-conceal.ts";
import { familyNumber, filterBytes, writeFilter, writePrefix } from "./encode-filter.ts";

/** Collects commands into one batch of bytes. */
export type CommandWriter = {
  readonly push: (command: EngineCommand) => void;
  /** The batch so far, as a view that is valid until the next call; empty when nothing was pushed. */
  readonly batch: () => Uint8Array;
  /** Forgets the batch and wipes it: it may have held keys. */
  readonly clear: () => void;
};

export function createCommandWriter(): CommandWriter {
  let bytes = new Uint8Array(INITIAL_BYTES);
  let view = new DataView(bytes.buffer);
  let used = 0;

  const reserve = (byteCount: number): void => {
    if (used + byteCount <= bytes.length) return;
    const larger = new Uint8Array(Math.max(bytes.length * 2, used + byteCount));
    larger.set(bytes.subarray(0, used));
    bytes.fill(0);
    bytes = larger;
    view = new DataView(bytes.buffer);
  };

  return {
    push(command) {
      const bodyBytes = bodyBytesOf(command);
      reserve(RECORD_HEADER_BYTES + bodyBytes);
      view.setUint8(used, KIND_NUMBERS[command.kind]);
      view.setUint32(used + 4, bodyBytes, true);
      writeBody(new DataView(bytes.buffer, used + RECORD_HEADER_BYTES, bodyBytes), command);
      used += RECORD_HEADER_BYTES + bodyBytes;
    },
    batch: () => bytes.subarray(0, used),
    clear() {
      bytes.fill(0, 0, used);
      used = 0;
    },
  };
}

function bodyBytesOf(command: EngineCommand): number {
  switch (command.kind) {
    case "add-peer":
    case "set-keepalive":
      return 8;
    case "set-path-mtu":
    case "send-probe":
      return 12;
    case "remove-peer":
    case "retire-session":
    case "handshake-gave-up":
    case "set-mtu":
      return 4;
    case "set-allowed-ips":
      return 8 + command.prefixes.length * PREFIX_BYTES;
    case "set-endpoint":
      return 4 + ENDPOINT_BYTES;
    case "install-session":
      return command.ageing ? 96 : 84;
    case "send-handshake":
      return 4 + ENDPOINT_BYTES + command.message.length;
    case "set-cookie-secrets":
      return 64;
    case "set-filter":
      return filterBytes(command);
    case "set-conceal":
      return concealBytes(command.disguise);
    case "set-silence":
      return 16;
  }
}

/** Fields not written stay zero: the buffer behind `used` is always clear. */
function writeBody(body: DataView, command: EngineCommand): void {
  switch (command.kind) {
    case "add-peer":
    case "set-keepalive":
      body.setUint32(0, command.slot, true);
      body.setUint16(4, command.keepaliveSeconds, true);
      return;
    case "remove-peer":
    case "handshake-gave-up":
      body.setUint32(0, command.slot, true);
      return;
    case "retire-session":
      body.setUint32(0, command.localIndex, true);
      return;
    case "set-allowed-ips":
      body.setUint32(0, command.slot, true);
      body.setUint32(4, command.prefixes.length, true);
      for (const [index, prefix] of command.prefixes.entries()) writePrefix(body, 8 + index * PREFIX_BYTES, prefix);
      return;
    case "set-endpoint":
      body.setUint32(0, command.slot, true);
      writeEndpoint(body, 4, command.endpoint);
      return;
    case "install-session":
      writeSession(body, command);
      return;
    case "send-handshake":
      body.setUint32(0, command.slot ?? NO_SLOT, true);
      writeEndpoint(body, 4, command.endpoint);
      bytesOf(body).set(command.message, 4 + ENDPOINT_BYTES);
      return;
    case "set-cookie-secrets":
      bytesOf(body).set(command.current, 0);
      bytesOf(body).set(command.previous, 32);
      return;
    case "set-filter":
      writeFilter(body, command);
      return;
    case "set-mtu":
      body.setUint32(0, command.mtu, true);
      return;
    case "set-path-mtu":
      body.setUint32(0, command.slot, true);
      body.setUint32(4, command.payload ?? NO_BOUND, true);
      body.setUint8(8, command.probes === "answered" ? 1 : 0);
      body.setUint8(9, command.bound === "proven" ? 1 : 0);
      return;
    case "send-probe":
      body.setUint32(0, command.slot, true);
      body.setUint32(4, command.size, true);
      body.setUint32(8, command.id, true);
      return;
    case "set-conceal":
      writeConceal(body, command.disguise);
      return;
    case "set-silence":
      for (const [place, { low, high }] of [command.silence.keepaliveMs, command.silence.noAnswerMs].entries()) {
        body.setUint32(8 * place, low, true);
        body.setUint32(8 * place + 4, high, true);
      }
  }
}

function writeSession(body: DataView, command: Extract<EngineCommand, { kind: "install-session" }>): void {
  const { keys } = command;
  body.setUint32(0, command.slot, true);
  body.setUint32(4, keys.localIndex, true);
  body.setUint32(8, keys.remoteIndex, true);
  body.setUint8(12, keys.role === "initiator" ? 0 : 1);
  body.setUint8(13, CIPHER_NUMBERS[command.cipher]);
  body.setUint8(14, ELISION_FLAGS[command.elision] | EXTENSION_FLAGS[command.extensions]);
  body.setUint8(15, command.lanes > 1 ? command.lanes : 0);
  body.setUint32(16, command.ageMs, true);
  bytesOf(body).set(keys.sendKey, 20);
  bytesOf(body).set(keys.receiveKey, 52);
  if (!command.ageing) return;
  body.setUint32(84, command.ageing.rekeyOnSendMs, true);
  body.setUint32(88, command.ageing.rekeyOnReceiveMs, true);
  body.setUint32(92, command.ageing.rejectAfterMs, true);
}

function writeEndpoint(body: DataView, at: number, endpoint: WireEndpoint | null): void {
  if (!endpoint) return;
  body.setUint8(at, familyNumber(endpoint.address));
  body.setUint16(at + 2, endpoint.port, true);
  bytesOf(body).set(endpoint.address, at + 4);
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

const KIND_NUMBERS = {
  "add-peer": 1,
  "remove-peer": 2,
  "set-allowed-ips": 3,
  "set-endpoint": 4,
  "set-keepalive": 5,
  "install-session": 6,
  "retire-session": 7,
  "send-handshake": 8,
  "handshake-gave-up": 9,
  "set-cookie-secrets": 10,
  "set-filter": 11,
  "set-mtu": 14,
  "set-path-mtu": 15,
  "send-probe": 16,
  "set-conceal": 17,
  "set-silence": 70,
} as const satisfies Record<EngineCommand["kind"], number>;

const CIPHER_NUMBERS = { "chacha20-poly1305": 0, "aes-256-gcm": 1 } as const;
const ELISION_FLAGS = { off: 0, on: 1, "receive-only": 3 } as const;
const EXTENSION_FLAGS = { none: 0, agreed: 4 } as const;
const NO_BOUND = 0;
const INITIAL_BYTES = 4_096;
