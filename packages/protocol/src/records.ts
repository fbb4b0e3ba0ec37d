import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

import { FRAME_BYTES_MAX, type Hello } from "./frames.ts";
import { err, ok, type Result } from "./result.ts";
import type { StreamExchange } from "./sealing.ts";
import { CIPHER_NONCE_BYTES, TAG_BYTES, type Cipher, type Ciphers } from "./stream-crypto.ts";
import { helloTranscript } from "./transcripts.ts";

/**
 * A message is not the next record of this stream: it was changed, repeated, moved, left out or made by somebody else.
 * It says nothing about what the other side wants.
 */
export type RecordError = { readonly code: "record"; readonly detail: string; readonly count: number };

/** One side's half of a protected stream. */
export type Records = {
  /** Makes the next message out of an encoded frame. */
  readonly seal: (frame: Uint8Array) => Uint8Array;
  /** Reads the next message; after one failure nothing opens any more. */
  readonly open: (message: Uint8Array) => Result<Uint8Array, RecordError>;
};

/**
 * Protects everything after the hello. Each direction has a key of its own, drawn from both ephemeral keys and from all
 * that was said so far, so that two sides which saw different handshakes cannot read each other. A record is the mark,
 * the encrypted frame and a tag; its place in the stream is the nonce, which is counted and never sent.
 */
export function createRecords(
  crypto: Ciphers,
  exchange: StreamExchange & { readonly hello: Hello },
  side: "server" | "agent",
): Records {
  const salt = sha256(helloTranscript(exchange.context, exchange.challenge, exchange.hello));
  const directionCipher = (label: string): Cipher => {
    const key = hkdf(sha256, exchange.shared, salt, utf8ToBytes(label), 32);
    const cipher = crypto.cipher(key);
    key.fill(0);
    return cipher;
  };
  const fromServer = directionCipher("weft agent stream v2: records of the server");
  const fromAgent = directionCipher("weft agent stream v2: records of the agent");
  return side === "server" ? recordsOf(fromServer, fromAgent) : recordsOf(fromAgent, fromServer);
}

/** Tells a record from a frame in the clear: no frame begins with this byte, because no field has the number 0. */
export function isRecord(message: Uint8Array): boolean {
  return message[0] === RECORD_MARK;
}

/** What protection adds to a frame. */
export const RECORD_OVERHEAD_BYTES = 1 + TAG_BYTES;
/** Longest message that either side accepts. */
export const RECORD_BYTES_MAX = FRAME_BYTES_MAX + RECORD_OVERHEAD_BYTES;

function recordsOf(own: Cipher, theirs: Cipher): Records {
  const sent = createCounter();
  const received = createCounter();
  let isBroken = false;
  const broken = (detail: string): Result<Uint8Array, RecordError> => {
    isBroken = true;
    return err({ code: "record", detail, count: received.count() });
  };
  return {
    seal: (frame) => own.seal(sent.next(), HEAD, frame),
    open(message) {
      if (isBroken) return broken("an earlier message was not a record of this stream");
      if (!isRecord(message)) return broken("the message is not protected");
      if (message.length > RECORD_BYTES_MAX) return broken(`${message.length} bytes are too many`);
      if (message.length < RECORD_OVERHEAD_BYTES) return broken(`${message.length} bytes are too few`);
      const frame = theirs.open(received.next(), HEAD.length, message);
      return frame ? ok(frame) : broken("the message was changed, repeated, moved or left out on the way");
    },
  };
}

/** Nonces in order: four zero bytes and a 64-bit number, low byte first. */
function createCounter(): { readonly next: () => Uint8Array; readonly count: () => number } {
  let count = 0;
  const nonce = new Uint8Array(CIPHER_NONCE_BYTES);
  const view = new DataView(nonce.buffer);
  return {
    next() {
      if (count >= Number.MAX_SAFE_INTEGER) throw new Error("a stream of 2^53 records has outlived its key");
      view.setUint32(4, count >>> 0, true);
      view.setUint32(8, Math.floor(count / 2 ** 32), true);
      count += 1;
      return nonce;
    },
    count: () => count,
  };
}

const RECORD_MARK = 0;
const HEAD = Uint8Array.of(RECORD_MARK);
