import { type ConcealProfile, PLAIN_CONCEAL, type Result } from "@weft/protocol";
import { handshakeKind } from "../message-types.ts";
import { viewOf } from "./bytes.ts";

/** Message of type 1, fields as views of the received bytes. */
export type InitiationMessage = {
  readonly kind: "initiation";
  readonly senderIndex: number;
  readonly ephemeral: Uint8Array;
  readonly sealedStatic: Uint8Array;
  readonly sealedTimestamp: Uint8Array;
};

/** Message of type 2. */
export type ResponseMessage = {
  readonly kind: "response";
  readonly senderIndex: number;
  readonly receiverIndex: number;
  readonly ephemeral: Uint8Array;
  readonly sealedNothing: Uint8Array;
};

/** Message of type 3. */
export type CookieReplyMessage = {
  readonly kind: "cookie-reply";
  readonly receiverIndex: number;
  readonly nonce: Uint8Array;
  readonly sealedCookie: Uint8Array;
};

export type HandshakeMessage = InitiationMessage | ResponseMessage | CookieReplyMessage;

export type MessageError =
  | { readonly code: "unknown_type"; readonly type: number }
  | { readonly code: "wrong_length"; readonly expected: number; readonly got: number };

/** Splits a handshake message into its fields; checks type and length, no cryptography. */
export function decodeMessage(
  bytes: Uint8Array,
  conceal: ConcealProfile = PLAIN_CONCEAL,
): Result<HandshakeMessage, MessageError> {
  const view = viewOf(bytes);
  switch (handshakeKind(bytes, conceal)) {
    case "initiation":
      return sized(bytes, INITIATION_BYTES, () => decodeInitiation(bytes, view));
    case "response":
      return sized(bytes, RESPONSE_BYTES, () => decodeResponse(bytes, view));
    case "cookie-reply":
      return sized(bytes, COOKIE_REPLY_BYTES, () => decodeCookieReply(bytes, view));
    case null: {
      const type = bytes.length < 4 ? -1 : view.getUint32(0, true);
      return { ok: false, error: { code: "unknown_type", type } };
    }
  }
}

function decodeInitiation(bytes: Uint8Array, view: DataView): InitiationMessage {
  return {
    kind: "initiation",
    senderIndex: view.getUint32(4, true),
    ephemeral: bytes.subarray(8, 40),
    sealedStatic: bytes.subarray(40, 88),
    sealedTimestamp: bytes.subarray(88, 116),
  };
}

function decodeResponse(bytes: Uint8Array, view: DataView): ResponseMessage {
  return {
    kind: "response",
    senderIndex: view.getUint32(4, true),
    receiverIndex: view.getUint32(8, true),
    ephemeral: bytes.subarray(12, 44),
    sealedNothing: bytes.subarray(44, 60),
  };
}

function decodeCookieReply(bytes: Uint8Array, view: DataView): CookieReplyMessage {
  return {
    kind: "cookie-reply",
    receiverIndex: view.getUint32(4, true),
    nonce: bytes.subarray(8, 32),
    sealedCookie: bytes.subarray(32, 64),
  };
}

/** Lays out a message of type 1 with both MAC fields zero. */
export function encodeInitiation(message: Omit<InitiationMessage, "kind">): Uint8Array {
  const bytes = new Uint8Array(INITIATION_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, INITIATION_TYPE, true);
  view.setUint32(4, message.senderIndex, true);
  bytes.set(message.ephemeral, 8);
  bytes.set(message.sealedStatic, 40);
  bytes.set(message.sealedTimestamp, 88);
  return bytes;
}

/** Lays out a message of type 2 with both MAC fields zero. */
export function encodeResponse(message: Omit<ResponseMessage, "kind">): Uint8Array {
  const bytes = new Uint8Array(RESPONSE_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, RESPONSE_TYPE, true);
  view.setUint32(4, message.senderIndex, true);
  view.setUint32(8, message.receiverIndex, true);
  bytes.set(message.ephemeral, 12);
  bytes.set(message.sealedNothing, 44);
  return bytes;
}

/** Lays out a message of type 3. */
export function encodeCookieReply(message: Omit<CookieReplyMessage, "kind">): Uint8Array {
  const bytes = new Uint8Array(COOKIE_REPLY_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, COOKIE_REPLY_TYPE, true);
  view.setUint32(4, message.receiverIndex, true);
  bytes.set(message.nonce, 8);
  bytes.set(message.sealedCookie, 32);
  return bytes;
}

function sized(
  bytes: Uint8Array,
  expected: number,
  decode: () => HandshakeMessage,
): Result<HandshakeMessage, MessageError> {
  if (bytes.length !== expected) return { ok: false, error: { code: "wrong_length", expected, got: bytes.length } };
  return { ok: true, value: decode() };
}

const INITIATION_TYPE = 1;
const RESPONSE_TYPE = 2;
const COOKIE_REPLY_TYPE = 3;
const INITIATION_BYTES = 148;
const RESPONSE_BYTES = 92;
const COOKIE_REPLY_BYTES = 64;
