import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";

import {
  MAP_PART_BYTES_MAX,
  type Challenge,
  type Hello,
  type MapBeginFrame,
  type MapEndFrame,
  type MapPartFrame,
} from "./frames.ts";
import { identityKeyFromBytes, keyBytes } from "./keys.ts";
import { createMapAssembler, splitMap, type MapTransfer } from "./map-transfer.ts";
import { openEnrolment, sealEnrolment, type StreamExchange } from "./sealing.ts";
import { toHex } from "./bytes.ts";
import { Secret } from "./secret.ts";
import { aPublicKey, aServerKey, countingRandom, mustBe, nobleCrypto } from "./testing/index.ts";
import {
  challengeTranscript,
  deltaSigningBytes,
  helloTranscript,
  keyFingerprint,
  mapSigningBytes,
  NO_CHANNEL_HASH,
  type StreamContext,
} from "./transcripts.ts";

const context: StreamContext = { agentNonce: new Uint8Array(32).fill(1), channelHash: NO_CHANNEL_HASH };
const serverKey = nobleCrypto.exchangeKeyFrom(countingRandom(4)(32));
const agentKey = nobleCrypto.exchangeKeyFrom(countingRandom(5)(32));
const challenge: Challenge = {
  serverKey: aServerKey(1),
  serverNonce: new Uint8Array(32).fill(2),
  exchangeKey: serverKey.publicKey,
  serverVersion: "1.0.0",
  protocolMin: 1,
  protocolMax: 1,
  channelBinding: "none",
};
const hello: Hello = {
  protocolVersion: 1,
  agentVersion: "1",
  identityKey: mustBe(identityKeyFromBytes(keyBytes(aPublicKey(8)))),
  publicKey: aPublicKey(9),
  bootId: 1n,
  counterEpoch: 2n,
  lastMap: null,
  hostname: "a",
  wantedName: "b",
  os: "linux",
  arch: "x64",
  capabilities: [],
  channelBinding: "none",
  exchangeKey: agentKey.publicKey,
  enrolmentBox: null,
};

describe("transcripts", () => {
  test.each<[string, Partial<Challenge>]>([
    ["server key", { serverKey: aServerKey(2) }],
    ["server nonce", { serverNonce: new Uint8Array(32) }],
    ["ephemeral key", { exchangeKey: new Uint8Array(32) }],
    ["server version", { serverVersion: "1.0.1" }],
    ["lowest version", { protocolMin: 0 }],
    ["highest version", { protocolMax: 2 }],
    ["binding", { channelBinding: "tls-exporter" }],
  ])("AP-3 the server's proof covers its %s, and so does the agent's", (_, change) => {
    const changed = { ...challenge, ...change };

    expect(toHex(challengeTranscript(context, changed))).not.toBe(toHex(challengeTranscript(context, challenge)));
    expect(toHex(helloTranscript(context, changed, hello))).not.toBe(toHex(helloTranscript(context, challenge, hello)));
  });

  test.each<[string, Partial<Hello>]>([
    ["protocol version", { protocolVersion: 2 }],
    ["agent version", { agentVersion: "2" }],
    ["identity key", { identityKey: mustBe(identityKeyFromBytes(keyBytes(aPublicKey(7)))) }],
    ["WireGuard key", { publicKey: aPublicKey(7) }],
    ["boot id", { bootId: 3n }],
    ["counter epoch", { counterEpoch: 3n }],
    ["last map", { lastMap: { epoch: 0n, sequence: 0n } }],
    ["moved text between fields", { hostname: "ab", wantedName: "" }],
    ["capabilities", { capabilities: ["x"] }],
    ["ephemeral key", { exchangeKey: new Uint8Array(32) }],
    ["ephemeral key when it is stripped", { exchangeKey: null }],
    ["enrolment", { enrolmentBox: new Uint8Array(3) }],
  ])("AP-3 the agent's proof covers its %s", (_, change) => {
    expect(toHex(helloTranscript(context, challenge, { ...hello, ...change }))).not.toBe(
      toHex(helloTranscript(context, challenge, hello)),
    );
  });

  test("AP-3 both proofs are bound to this connection", () => {
    for (const other of [
      { ...context, agentNonce: new Uint8Array(32) },
      { ...context, channelHash: new Uint8Array(32).fill(9) },
    ]) {
      expect(toHex(challengeTranscript(other, challenge))).not.toBe(toHex(challengeTranscript(context, challenge)));
      expect(toHex(helloTranscript(other, challenge, hello))).not.toBe(
        toHex(helloTranscript(context, challenge, hello)),
      );
    }
  });

  test("AP-31 a map signature states epoch, sequence, time and content", () => {
    const base = { epoch: 1n, sequence: 2n, timeMs: 3, body: Uint8Array.of(4), baseSequence: 1n };
    const variants = [
      base,
      { ...base, epoch: 9n },
      { ...base, sequence: 9n },
      { ...base, timeMs: 9 },
      { ...base, body: Uint8Array.of(9) },
    ];
    const signed = [
      ...variants.map((entry) => toHex(mapSigningBytes(entry))),
      ...variants.map((entry) => toHex(deltaSigningBytes(entry))),
      toHex(deltaSigningBytes({ ...base, baseSequence: 9n })),
    ];

    expect(new Set(signed).size).toBe(signed.length);
  });

  test("a fingerprint is short, stable and different for different keys", () => {
    expect(keyFingerprint(aServerKey(1))).toMatch(/^([0-9a-f]{4}-){7}[0-9a-f]{4}$/);
    expect(keyFingerprint(aServerKey(1))).toBe(keyFingerprint(aServerKey(1)));
    expect(keyFingerprint(aServerKey(1))).not.toBe(keyFingerprint(aServerKey(2)));
  });
});

describe("sealed enrolment", () => {
  const secret = new Secret("weft_enr_abc");
  const exchange: StreamExchange = {
    context,
    challenge,
    exchangeKey: agentKey.publicKey,
    shared: serverKey.agree(agentKey.publicKey)!,
  };

  test("SEC-1 opens at the server of the stream and shows nothing on the way", () => {
    const box = sealEnrolment(nobleCrypto, { ...exchange, shared: agentKey.agree(serverKey.publicKey)! }, secret);

    expect(mustBe(openEnrolment(nobleCrypto, exchange, box)).expose()).toBe("weft_enr_abc");
    expect(toHex(box)).not.toContain(toHex(utf8ToBytes("weft_enr")));
  });

  test.each<[string, Partial<StreamExchange>]>([
    ["another server", { shared: nobleCrypto.exchangeKeyFrom(countingRandom(6)(32)).agree(agentKey.publicKey)! }],
    ["another stream", { context: { ...context, agentNonce: new Uint8Array(32) } }],
    ["another challenge", { challenge: { ...challenge, serverNonce: new Uint8Array(32) } }],
    ["another ephemeral key", { exchangeKey: new Uint8Array(32) }],
  ])("SEC-3 does not open for %s", (_, change) => {
    const box = sealEnrolment(nobleCrypto, exchange, secret);

    expect(openEnrolment(nobleCrypto, { ...exchange, ...change }, box).ok).toBe(false);
  });

  test("SEC-3 does not open after a change", () => {
    const box = sealEnrolment(nobleCrypto, exchange, secret);
    const changed = box.map((byte, index) => (index === 3 ? byte ^ 1 : byte));

    expect(openEnrolment(nobleCrypto, exchange, changed).ok).toBe(false);
    expect(openEnrolment(nobleCrypto, exchange, new Uint8Array(3)).ok).toBe(false);
  });
});

describe("map transfer", () => {
  const transfer = (length: number): MapTransfer => ({
    epoch: 5n,
    sequence: 6n,
    timeMs: 7,
    compression: "deflate",
    bodyBytes: length * 2,
    bytes: countingRandom(1)(length),
    signature: new Uint8Array(64),
  });
  const parts = (frames: ReturnType<typeof splitMap>) => ({
    begin: frames[0] as MapBeginFrame,
    middle: frames.slice(1, -1) as MapPartFrame[],
    end: frames.at(-1) as MapEndFrame,
  });

  test.each([0, 1, MAP_PART_BYTES_MAX, MAP_PART_BYTES_MAX + 1, 3 * MAP_PART_BYTES_MAX - 5])(
    "AP-6 %i bytes arrive whole in parts of at most 256 KiB",
    (length) => {
      const sent = transfer(length);
      const { begin, middle, end } = parts(splitMap(sent));
      const assembler = createMapAssembler();

      mustBe(assembler.begin(begin));
      for (const part of middle) mustBe(assembler.part(part));

      expect(middle.every((part) => part.bytes.length <= MAP_PART_BYTES_MAX)).toBe(true);
      const received = mustBe(assembler.end(end));
      expect({ ...received, bytes: toHex(received.bytes) }).toEqual({ ...sent, bytes: toHex(sent.bytes) });
    },
  );

  test("AP-21 a changed part is a hash mismatch", () => {
    const { begin, middle, end } = parts(splitMap(transfer(MAP_PART_BYTES_MAX + 9)));
    const assembler = createMapAssembler();

    assembler.begin(begin);
    assembler.part(middle[0]!);
    assembler.part({ ...middle[1]!, bytes: new Uint8Array(9) });

    expect(assembler.end(end)).toEqual({ ok: false, error: { code: "hash_mismatch" } });
  });

  test("parts out of order, missing, or without a begin are refused", () => {
    const { begin, middle, end } = parts(splitMap(transfer(2 * MAP_PART_BYTES_MAX)));
    const assembler = createMapAssembler();

    expect(assembler.part(middle[0]!).ok).toBe(false);
    assembler.begin(begin);
    expect(assembler.part(middle[1]!).ok).toBe(false);
    assembler.begin(begin);
    assembler.part(middle[0]!);
    expect(assembler.end(end).ok).toBe(false);
    expect(assembler.end(end).ok).toBe(false);
  });

  test("an announced size above the limit is refused at once", () => {
    const assembler = createMapAssembler();

    expect(
      assembler.begin({
        kind: "mapBegin",
        epoch: 1n,
        sequence: 1n,
        compression: "none",
        bodyBytes: 2 ** 31,
        partCount: 1,
      }),
    ).toMatchObject({ error: { code: "too_large" } });
    expect(
      assembler.begin({
        kind: "mapBegin",
        epoch: 1n,
        sequence: 1n,
        compression: "none",
        bodyBytes: 1,
        partCount: 2 ** 20,
      }),
    ).toMatchObject({ error: { code: "too_large" } });
  });
});
