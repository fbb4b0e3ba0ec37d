import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

import { concatBytes } from "./bytes.ts";
import type { Challenge, Hello } from "./frames.ts";
import { keyBytes, type ServerKey } from "./keys.ts";
import type { MapVersion } from "./network-map.ts";

/** What ties both proofs to one connection. */
export type StreamContext = {
  /** 32 bytes from the query of the WebSocket URL. */
  readonly agentNonce: Uint8Array;
  /** Exporter value of the TLS connection (label `TLS_EXPORTER_LABEL`), or 32 zero bytes with binding "none". */
  readonly channelHash: Uint8Array;
};

/**
 * Bytes that the server signs with its key and sends in the challenge. Covers every field of it, and stays the same over
 * protocol versions, so that an older agent believes the versions that it names.
 */
export function challengeTranscript(context: StreamContext, challenge: Challenge): Uint8Array {
  return transcript("weft agent stream v1: server", [
    context.agentNonce,
    context.channelHash,
    keyBytes(challenge.serverKey),
    challenge.serverNonce,
    challenge.exchangeKey,
    utf8ToBytes(challenge.serverVersion),
    number64(challenge.protocolMin),
    number64(challenge.protocolMax),
    utf8ToBytes(challenge.channelBinding),
  ]);
}

/** Bytes that the agent signs with its identity key and sends in the hello. Covers the challenge and every field of the hello. */
export function helloTranscript(context: StreamContext, challenge: Challenge, hello: Hello): Uint8Array {
  return transcript("weft agent stream v2: agent", [
    sha256(challengeTranscript(context, challenge)),
    number64(hello.protocolVersion),
    utf8ToBytes(hello.agentVersion),
    keyBytes(hello.identityKey),
    keyBytes(hello.publicKey),
    number64(hello.bootId),
    number64(hello.counterEpoch),
    hello.lastMap ? concatBytes([number64(hello.lastMap.epoch), number64(hello.lastMap.sequence)]) : EMPTY,
    utf8ToBytes(hello.hostname),
    utf8ToBytes(hello.wantedName),
    utf8ToBytes(hello.os),
    utf8ToBytes(hello.arch),
    list(hello.capabilities.map((name) => utf8ToBytes(name))),
    utf8ToBytes(hello.channelBinding),
    hello.exchangeKey ?? EMPTY,
    hello.enrolmentBox ?? EMPTY,
  ]);
}

/** What a signature over a map or a delta states. */
export type SignedBody = MapVersion & { readonly timeMs: number; readonly body: Uint8Array };

/** Bytes that the server signs for a snapshot; `body` is the encoded map before compression. */
export function mapSigningBytes(map: SignedBody): Uint8Array {
  return transcript("weft network map v1", [
    number64(map.epoch),
    number64(map.sequence),
    number64(map.timeMs),
    sha256(map.body),
  ]);
}

/** Bytes that the server signs for a delta. */
export function deltaSigningBytes(delta: SignedBody & { readonly baseSequence: bigint }): Uint8Array {
  return transcript("weft network map delta v1", [
    number64(delta.epoch),
    number64(delta.baseSequence),
    number64(delta.sequence),
    number64(delta.timeMs),
    sha256(delta.body),
  ]);
}

/** What a person compares when two sides must show the same key: 8 groups of 4 hexadecimal digits. */
export function keyFingerprint(key: Parameters<typeof keyBytes>[0] | ServerKey): string {
  const groups: string[] = [];
  const digest = sha256(keyBytes(key));
  for (let index = 0; index < 16; index += 2) {
    groups.push((((digest[index] ?? 0) << 8) | (digest[index + 1] ?? 0)).toString(16).padStart(4, "0"));
  }
  return groups.join("-");
}

/** SHA-256, for the places that hash what they sign. */
export function hashBytes(bytes: Uint8Array): Uint8Array {
  return sha256(bytes);
}

/** Label of the TLS exporter value. */
export const TLS_EXPORTER_LABEL = "EXPORTER-weft-agent-v1";
/** Stands for the channel hash where the stream is not bound to TLS. */
export const NO_CHANNEL_HASH: Uint8Array = new Uint8Array(32);
/** Bytes of a nonce of either side. */
export const NONCE_BYTES = 32;

/** A label and length-prefixed fields: two different inputs never give the same bytes. */
function transcript(label: string, fields: readonly Uint8Array[]): Uint8Array {
  return list([utf8ToBytes(label), ...fields]);
}

function list(fields: readonly Uint8Array[]): Uint8Array {
  return concatBytes(fields.flatMap((field) => [number64(field.length), field]));
}

function number64(value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)));
  return bytes;
}

const EMPTY = new Uint8Array(0);
