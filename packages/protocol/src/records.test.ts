import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { BYE_REASONS, isClearByeReason } from "./bye.ts";
import { toHex } from "./bytes.ts";
import { encodeAgentFrame, encodeServerFrame } from "./codec.ts";
import { FRAME_BYTES_MAX, type Challenge, type Hello } from "./frames.ts";
import { identityKeyFromBytes, keyBytes } from "./keys.ts";
import { createRecords, isRecord, RECORD_BYTES_MAX, RECORD_OVERHEAD_BYTES } from "./records.ts";
import { aPublicKey, aServerKey, countingRandom, mustBe, nobleCrypto } from "./testing/index.ts";
import { NO_CHANNEL_HASH } from "./transcripts.ts";

const serverKey = nobleCrypto.exchangeKeyFrom(countingRandom(4)(32));
const agentKey = nobleCrypto.exchangeKeyFrom(countingRandom(5)(32));
const shared = serverKey.agree(agentKey.publicKey)!;
const context = { agentNonce: new Uint8Array(32).fill(1), channelHash: NO_CHANNEL_HASH };
const challenge: Challenge = {
  serverKey: aServerKey(1),
  serverNonce: new Uint8Array(32).fill(2),
  exchangeKey: serverKey.publicKey,
  serverVersion: "1.0.0",
  protocolMin: 2,
  protocolMax: 2,
  channelBinding: "none",
};
const hello: Hello = {
  protocolVersion: 2,
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
const exchange = { context, challenge, hello, exchangeKey: agentKey.publicKey, shared };
const pair = (agentSide = exchange) => ({
  server: createRecords(nobleCrypto, exchange, "server"),
  agent: createRecords(nobleCrypto, agentSide, "agent"),
});
const frames = [Uint8Array.of(10), Uint8Array.of(11, 11), Uint8Array.of(12)];

describe("records", () => {
  test("AP-4 any frames arrive as they were, in both directions, and none stands readable in its record", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }), (list) => {
        const { server, agent } = pair();
        for (const [from, to] of [
          [server, agent],
          [agent, server],
        ] as const) {
          for (const frame of list) {
            const message = from.seal(frame);

            expect(isRecord(message)).toBe(true);
            expect(message.length).toBe(frame.length + RECORD_OVERHEAD_BYTES);
            if (frame.length > 8) expect(toHex(message)).not.toContain(toHex(frame));
            expect(toHex(mustBe(to.open(message)))).toBe(toHex(frame));
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test("SEC-3 arbitrary bytes give an error value and never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(pair().agent.open(bytes).ok).toBe(false);
        expect(pair().agent.open(Uint8Array.of(0, ...bytes)).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("SEC-3 every flipped bit is noticed", () => {
    const message = pair().server.seal(Uint8Array.of(1, 2, 3));
    for (let bit = 0; bit < message.length * 8; bit += 1) {
      const changed = message.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

      expect(pair().agent.open(changed).ok).toBe(false);
    }
  });

  test.each<[string, (sealed: readonly Uint8Array[]) => readonly (Uint8Array | undefined)[], number]>([
    ["replayed", ([one, two]) => [one, one, two], 1],
    ["reordered", ([one, two, three]) => [two, one, three], 0],
    ["dropped", ([one, , three]) => [one, three], 1],
    ["cut", ([one, two]) => [one, two?.subarray(0, -1)], 1],
    ["made longer", ([one]) => [one && Uint8Array.of(...one, 0)], 0],
    ["empty", ([one]) => [one, new Uint8Array(0)], 1],
    ["sent without protection", ([one]) => [one, encodeServerFrame({ kind: "ping", token: 1n })], 1],
  ])("SEC-3 a record that is %s is refused, and nothing after it opens", (_, tamper, good) => {
    const { server, agent } = pair();

    const opened = tamper(frames.map((frame) => server.seal(frame))).map((message) => agent.open(message!).ok);

    expect(opened.indexOf(false)).toBe(good);
    expect(opened.slice(good)).not.toContain(true);
    expect(agent.open(server.seal(Uint8Array.of(1))).ok).toBe(false);
  });

  test("SEC-3 a record that is sent back to its maker does not open", () => {
    const { server } = pair();

    expect(server.open(server.seal(Uint8Array.of(1)))).toMatchObject({ error: { code: "record", count: 1 } });
  });

  test.each<[string, Partial<typeof exchange>]>([
    ["another nonce", { context: { ...context, agentNonce: new Uint8Array(32) } }],
    ["another TLS connection", { context: { ...context, channelHash: new Uint8Array(32).fill(7) } }],
    ["another server key", { challenge: { ...challenge, serverKey: aServerKey(2) } }],
    ["another node", { hello: { ...hello, identityKey: mustBe(identityKeyFromBytes(keyBytes(aPublicKey(7)))) } }],
    ["another enrolment key", { hello: { ...hello, enrolmentBox: Uint8Array.of(1) } }],
    ["a stripped ephemeral key", { hello: { ...hello, exchangeKey: null } }],
    ["another secret", { shared: nobleCrypto.exchangeKeyFrom(countingRandom(6)(32)).agree(agentKey.publicKey)! }],
  ])("AP-3 sides that saw %s cannot read each other", (_, change) => {
    const { server, agent } = pair({ ...exchange, ...change });

    expect(agent.open(server.seal(Uint8Array.of(1))).ok).toBe(false);
    expect(server.open(agent.seal(Uint8Array.of(1))).ok).toBe(false);
  });

  test("the longest frame fits, a longer message is refused", () => {
    const { server, agent } = pair();

    expect(server.seal(new Uint8Array(FRAME_BYTES_MAX))).toHaveLength(RECORD_BYTES_MAX);
    expect(agent.open(new Uint8Array(RECORD_BYTES_MAX + 1)).ok).toBe(false);
  });

  test("no frame in the clear looks like a record", () => {
    const bye = { kind: "bye", reason: "restart", detail: "none", message: "", retryAfterMs: 0 } as const;

    for (const bytes of [
      encodeServerFrame({ kind: "challenge", ...challenge, signature: new Uint8Array(64) }),
      encodeServerFrame(bye),
      encodeAgentFrame({ kind: "hello", ...hello, signature: new Uint8Array(64) }),
      encodeAgentFrame(bye),
    ]) {
      expect(isRecord(bytes)).toBe(false);
    }
  });
});

test("SEC-33 in the clear only reasons that change nothing on a node are believed", () => {
  expect(BYE_REASONS.filter(isClearByeReason)).toEqual(["restart", "incompatible", "overload"]);
});

test("SEC-3 keys of low order and of wrong length agree on nothing", () => {
  expect(agentKey.agree(new Uint8Array(32))).toBeNull();
  expect(agentKey.agree(new Uint8Array(31))).toBeNull();
});
