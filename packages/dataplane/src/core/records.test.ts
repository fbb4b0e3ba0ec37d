import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCommands } from "../fake/decode-commands.ts";
import { encodeEvent } from "../fake/encode-events.ts";
import { decodeEvents } from "./decode-events.ts";
import { createCommandWriter } from "./encode-commands.ts";
import type { EngineCommand, EngineEvent, WireEndpoint, WirePrefix, WireRule } from "./engine-port.ts";

test("writes an InstallSession record exactly as documented", () => {
  const writer = createCommandWriter();
  const keys = { role: "responder", localIndex: 0x01020304, remoteIndex: 0x05060708 } as const;

  writer.push({
    kind: "install-session",
    slot: 7,
    keys: { ...keys, sendKey: new Uint8Array(32).fill(0xaa), receiveKey: new Uint8Array(32).fill(0xbb) },
    ageMs: 258,
    cipher: "aes-256-gcm",
    elision: "receive-only",
    extensions: "agreed",
    lanes: 8,
    ageing: null,
  });

  expect(Buffer.from(writer.batch()).toString("hex")).toBe(
    [
      "06000000",
      "54000000",
      "07000000",
      "04030201",
      "08070605",
      "01010708",
      "02010000",
      "aa".repeat(32),
      "bb".repeat(32),
    ].join(""),
  );
});

test("writes ages behind a session and spans of silence exactly as documented", () => {
  const writer = createCommandWriter();
  const keys = { role: "initiator", localIndex: 1, remoteIndex: 2 } as const;

  writer.push({
    kind: "install-session",
    slot: 7,
    keys: { ...keys, sendKey: new Uint8Array(32).fill(0xaa), receiveKey: new Uint8Array(32).fill(0xbb) },
    ageMs: 0,
    cipher: "chacha20-poly1305",
    elision: "off",
    extensions: "none",
    lanes: 1,
    ageing: { rekeyOnSendMs: 258, rekeyOnReceiveMs: 259, rejectAfterMs: 260 },
  });
  writer.push({
    kind: "set-silence",
    silence: { keepaliveMs: { low: 1, high: 2 }, noAnswerMs: { low: 3, high: 4 } },
  });

  const text = Buffer.from(writer.batch()).toString("hex");
  expect(text.slice(0, 16)).toBe("0600000060000000");
  expect(text.slice(-80)).toBe(
    `${"bb".repeat(4)}020100000301000004010000460000001000000001000000020000000300000004000000`,
  );
});

test("writes a SetFilter record exactly as documented", () => {
  const writer = createCommandWriter();

  writer.push({
    kind: "set-filter",
    sets: [[{ address: Uint8Array.of(100, 64, 0, 0), length: 10 }]],
    rules: [
      {
        id: 9,
        action: "allow",
        direction: "in",
        protocol: 6,
        source: 0,
        destination: null,
        ports: [{ low: 22, high: 80 }],
        icmp: null,
        replies: "judged",
      },
    ],
  });

  expect(Buffer.from(writer.batch()).toString("hex")).toBe(
    [
      "0b000000",
      "40000000",
      "020000000100000001000000",
      "01000000",
      `040a000064400000${"00".repeat(12)}`,
      "09000000",
      "01010700",
      "00000000",
      "ffffffff",
      "01000000",
      "01000000",
      "16005000",
    ].join(""),
  );
});

test("writes endpoints with the family first and no endpoint as zeros", () => {
  const writer = createCommandWriter();
  writer.push({ kind: "set-endpoint", slot: 1, endpoint: { address: Uint8Array.of(192, 0, 2, 1), port: 51_820 } });
  writer.push({ kind: "set-endpoint", slot: 2, endpoint: null });

  expect(Buffer.from(writer.batch()).toString("hex")).toBe(
    ["04000000", "18000000", "01000000", "04006cca", "c0000201", "00".repeat(12)].join("") +
      ["04000000", "18000000", "02000000", "00".repeat(20)].join(""),
  );
});

test("every command comes out of a batch as it went in, and a cleared batch holds no trace", () => {
  fc.assert(
    fc.property(fc.array(command(), { maxLength: 40 }), (commands) => {
      const writer = createCommandWriter();
      for (const item of commands) writer.push(item);
      expect(decodeCommands(writer.batch())).toEqual(commands);

      const view = writer.batch();
      writer.clear();
      expect(view.every((byte) => byte === 0)).toBe(true);
      for (const item of commands) writer.push(item);
      expect(decodeCommands(writer.batch())).toEqual(commands);
    }),
  );
});

test("every event comes out of a batch as it went in", () => {
  fc.assert(
    fc.property(fc.array(event(), { maxLength: 20 }), (events) => {
      const decoded = decodeEvents(Buffer.concat(events.map(encodeEvent)));

      expect(decoded).toEqual({ ok: true, value: events });
    }),
  );
});

test("arbitrary bytes never make the event decoder throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void decodeEvents(bytes)));
  fc.assert(
    fc.property(fc.array(event(), { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(255), (events, at, byte) => {
      const batch = Buffer.concat(events.map(encodeEvent));
      batch[at % batch.length] = byte;
      decodeEvents(batch);
    }),
  );
});

test("a record cut short is named by its offset", () => {
  const first = encodeEvent({ kind: "no-answer", slot: 1 });
  const batch = Buffer.concat([first, first.subarray(0, 9)]);

  expect(decodeEvents(batch)).toEqual({ ok: false, error: { code: "truncated", offset: first.length } });
});

const slot = fc.nat(0xffff_fffe);
const index = fc.nat(0xffff_ffff);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });

function address(): fc.Arbitrary<Uint8Array> {
  return fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }));
}

function endpoint(): fc.Arbitrary<WireEndpoint> {
  return fc.record({ address: address(), port: fc.nat(65_535) });
}

function prefix(): fc.Arbitrary<WirePrefix> {
  return address().chain((bytes) => fc.nat(bytes.length * 8).map((length) => ({ address: bytes, length })));
}

function command(): fc.Arbitrary<EngineCommand> {
  const keepaliveSeconds = fc.nat(65_535);
  const keys = fc.record({
    role: fc.constantFrom("initiator", "responder"),
    localIndex: index,
    remoteIndex: index,
    sendKey: key,
    receiveKey: key,
  });
  const span = fc.record({ low: index, high: index });
  return fc.oneof(
    fc.record({ kind: fc.constant("add-peer"), slot, keepaliveSeconds }),
    fc.record({ kind: fc.constant("remove-peer"), slot }),
    fc.record({ kind: fc.constant("set-allowed-ips"), slot, prefixes: fc.array(prefix()) }),
    fc.record({ kind: fc.constant("set-endpoint"), slot, endpoint: fc.option(endpoint()) }),
    fc.record({ kind: fc.constant("set-keepalive"), slot, keepaliveSeconds }),
    fc.record({
      kind: fc.constant("install-session"),
      slot,
      keys,
      ageMs: index,
      cipher: fc.constantFrom("chacha20-poly1305", "aes-256-gcm"),
      elision: fc.constantFrom("off", "on", "receive-only"),
      extensions: fc.constantFrom("none", "agreed"),
      lanes: fc.integer({ min: 1, max: 8 }),
      ageing: fc.option(fc.record({ rekeyOnSendMs: index, rekeyOnReceiveMs: index, rejectAfterMs: index })),
    }),
    fc.record({
      kind: fc.constant("set-silence"),
      silence: fc.record({ keepaliveMs: span, noAnswerMs: span }),
    }),
    fc.record({ kind: fc.constant("retire-session"), localIndex: index }),
    fc.record({
      kind: fc.constant("send-handshake"),
      slot: fc.option(slot),
      endpoint: fc.option(endpoint()),
      message: fc.uint8Array({ maxLength: 148 }),
    }),
    fc.record({ kind: fc.constant("handshake-gave-up"), slot }),
    fc.record({ kind: fc.constant("set-cookie-secrets"), current: key, previous: key }),
    fc.record({ kind: fc.constant("set-mtu"), mtu: index }),
    fc.record({
      kind: fc.constant("set-path-mtu"),
      slot,
      payload: fc.option(fc.integer({ min: 1, max: 65_507 })),
      probes: fc.constantFrom("answered", "ignored"),
      bound: fc.constantFrom("believed", "proven"),
    }),
    fc.record({ kind: fc.constant("send-probe"), slot, size: index, id: index }),
    fc.record({
      kind: fc.constant("set-filter"),
      sets: fc.array(fc.array(prefix(), { maxLength: 3 }), { maxLength: 3 }),
      rules: fc.array(wireRule(), { maxLength: 4 }),
    }),
  );
}

function wireRule(): fc.Arbitrary<WireRule> {
  const byte = fc.nat(255);
  const base = {
    id: index,
    action: fc.constantFrom("deny", "allow"),
    direction: fc.constantFrom("in", "out", "both"),
    protocol: fc.option(byte),
    source: fc.option(fc.nat(2)),
    destination: fc.option(fc.nat(2)),
    replies: fc.constantFrom("pass", "judged"),
  } as const;
  const range = fc.record({ low: fc.nat(65_535), high: fc.nat(65_535) });
  return fc.oneof(
    fc.record({ ...base, ports: fc.array(range, { maxLength: 3 }), icmp: fc.constant(null) }),
    fc.record({ ...base, ports: fc.constant([]), icmp: fc.record({ type: byte, code: fc.option(byte) }) }),
  );
}

function event(): fc.Arbitrary<EngineEvent> {
  const message = fc.uint8Array({ maxLength: 148 });
  return fc.oneof(
    fc.record({
      kind: fc.constant("handshake-message"),
      from: endpoint(),
      message,
      load: fc.constantFrom("normal", "high"),
      mac2: fc.constantFrom("valid", "absent"),
    }),
    fc.record({ kind: fc.constant("cookie-wanted"), from: endpoint(), message }),
    fc.record({
      kind: fc.constant("want-handshake"),
      slot,
      reason: fc.constantFrom("no-session", "old-sent", "old-received"),
    }),
    fc.record({ kind: fc.constant("session-confirmed"), slot, localIndex: index }),
    fc.record({ kind: fc.constant("endpoint-moved"), slot, endpoint: fc.option(endpoint()) }),
    fc.record({ kind: fc.constant("no-answer"), slot }),
    fc.record({ kind: fc.constant("queue-overflow"), dropped: index }),
    fc.record({
      kind: fc.constant("io-fault"),
      operation: fc.constantFrom("tun-read", "tun-write", "udp-receive", "udp-send", "poll"),
      severity: fc.constantFrom("passing", "fatal"),
      errno: fc.integer({ min: -200, max: 200 }),
    }),
    fc.record({ kind: fc.constant("session-expired"), slot, localIndex: index }),
    fc.record({
      kind: fc.constant("shard-failed"),
      shard: fc.nat(65_535),
      message: fc.string({ maxLength: 64 }),
    }),
    fc.record({ kind: fc.constant("probe-answered"), slot, id: index, size: index }),
    fc.record({ kind: fc.constant("path-too-big"), slot, payload: index }),
    fc.record({ kind: fc.constant("large-sent"), slot }),
  );
}
