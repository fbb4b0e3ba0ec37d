import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToUtf8, utf8ToBytes } from "@noble/ciphers/utils.js";

import { concatBytes } from "./bytes.ts";
import type { Challenge, SealedEnrolment } from "./frames.ts";
import type { RandomBytes } from "./inputs.ts";
import { err, ok, type Result } from "./result.ts";
import { Secret } from "./secret.ts";
import { challengeTranscript, type StreamContext } from "./transcripts.ts";

/** The seal does not open: wrong key, another stream, or bytes were changed. */
export type SealError = { readonly code: "seal"; readonly detail: string };

/** Makes the ephemeral key pair that a server puts into one challenge. */
export function makeSealKey(random: RandomBytes): {
  readonly publicKey: Uint8Array;
  readonly privateKey: Secret<Uint8Array>;
} {
  const privateKey = random(32);
  return { publicKey: x25519.getPublicKey(privateKey), privateKey: new Secret(privateKey) };
}

/** Encrypts an enrolment key to the server of this stream, so that plain HTTP and proxies never show it. */
export function sealEnrolment(
  stream: { readonly context: StreamContext; readonly challenge: Challenge },
  enrolmentKey: Secret<string>,
  random: RandomBytes,
): Result<SealedEnrolment, SealError> {
  const ephemeralPrivate = random(32);
  const ephemeralKey = x25519.getPublicKey(ephemeralPrivate);
  const shared = agree(ephemeralPrivate, stream.challenge.sealKey);
  if (!shared.ok) return shared;
  const key = sealingKey(shared.value, ephemeralKey, challengeTranscript(stream.context, stream.challenge));
  return ok({ ephemeralKey, box: chacha20poly1305(key, ONE_USE_NONCE).encrypt(utf8ToBytes(enrolmentKey.expose())) });
}

/** Decrypts what `sealEnrolment` made for the same stream. */
export function openEnrolment(
  stream: { readonly context: StreamContext; readonly challenge: Challenge },
  sealed: SealedEnrolment,
  sealPrivateKey: Secret<Uint8Array>,
): Result<Secret<string>, SealError> {
  const shared = agree(sealPrivateKey.expose(), sealed.ephemeralKey);
  if (!shared.ok) return shared;
  const key = sealingKey(shared.value, sealed.ephemeralKey, challengeTranscript(stream.context, stream.challenge));
  try {
    return ok(new Secret(bytesToUtf8(chacha20poly1305(key, ONE_USE_NONCE).decrypt(sealed.box))));
  } catch {
    return err({ code: "seal", detail: "the box does not open with this stream's key" });
  }
}

/** The library refuses low-order points by throwing; to us that is hostile input. */
function agree(privateKey: Uint8Array, publicKey: Uint8Array): Result<Uint8Array, SealError> {
  try {
    return ok(x25519.getSharedSecret(privateKey, publicKey));
  } catch {
    return err({ code: "seal", detail: "not a usable X25519 key" });
  }
}

function sealingKey(shared: Uint8Array, ephemeralKey: Uint8Array, streamBytes: Uint8Array): Uint8Array {
  return hkdf(sha256, shared, sha256(streamBytes), concatBytes([utf8ToBytes("weft enrolment v1"), ephemeralKey]), 32);
}

/** Each key encrypts one message only, so a fixed nonce is safe. */
const ONE_USE_NONCE = new Uint8Array(12);
