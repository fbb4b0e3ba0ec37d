import { bytesToUtf8 } from "@noble/ciphers/utils.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

import { concatBytes } from "./bytes.ts";
import type { Challenge } from "./frames.ts";
import { err, ok, type Result } from "./result.ts";
import { Secret } from "./secret.ts";
import { CIPHER_NONCE_BYTES, type Ciphers } from "./stream-crypto.ts";
import { challengeTranscript, type StreamContext } from "./transcripts.ts";

/** The seal does not open: wrong key, another stream, or bytes were changed. */
export type SealError = { readonly code: "seal"; readonly detail: string };

/** What both sides know of a stream once the agent has chosen its ephemeral key. */
export type StreamExchange = {
  readonly context: StreamContext;
  readonly challenge: Challenge;
  /** The agent's ephemeral key. */
  readonly exchangeKey: Uint8Array;
  /** What the two ephemeral keys agree on. */
  readonly shared: Uint8Array;
};

/** Encrypts an enrolment key to the server of this stream: it travels in the hello, before records begin. */
export function sealEnrolment(crypto: Ciphers, exchange: StreamExchange, enrolmentKey: Secret<string>): Uint8Array {
  return crypto.cipher(sealingKey(exchange)).seal(ONE_USE_NONCE, NO_HEAD, utf8ToBytes(enrolmentKey.expose()));
}

/** Decrypts what `sealEnrolment` made for the same stream. */
export function openEnrolment(
  crypto: Ciphers,
  exchange: StreamExchange,
  box: Uint8Array,
): Result<Secret<string>, SealError> {
  const plain = crypto.cipher(sealingKey(exchange)).open(ONE_USE_NONCE, 0, box);
  if (!plain) return err({ code: "seal", detail: "the box does not open with this stream's key" });
  return ok(new Secret(bytesToUtf8(plain)));
}

function sealingKey({ context, challenge, exchangeKey, shared }: StreamExchange): Uint8Array {
  const salt = sha256(challengeTranscript(context, challenge));
  return hkdf(sha256, shared, salt, concatBytes([utf8ToBytes("weft enrolment v2"), exchangeKey]), 32);
}

/** Each key encrypts one message only, so a fixed nonce is safe. */
const ONE_USE_NONCE = new Uint8Array(CIPHER_NONCE_BYTES);
const NO_HEAD = new Uint8Array(0);
