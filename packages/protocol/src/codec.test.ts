import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ipFrom, endpointOf, isIpv4, isIpv6, prefixFrom } from "./addresses.ts";
import { applyDelta } from "./apply-delta.ts";
import { BYE_DETAILS, BYE_REASONS } from "./bye.ts";
import { toHex } from "./bytes.ts";
import {
  decodeAgentFrame,
  decodeDeltaBody,
  decodeMapBody,
  decodeServerFrame,
  encodeAgentFrame,
  encodeDeltaBody,
  encodeMapBody,
  encodeServerFrame,
} from "./codec.ts";
import { FLOW_RECORDS_MAX, type FlowRecord } from "./flow-records.ts";
import { FRAME_BYTES_MAX, type AgentFrame, type ServerFrame } from "./frames.ts";
import { concealProfileIds, jobIds, networkIds, peerIds } from "./ids.ts";
import { identityKeyFromBytes, publicKeyFromBytes, serverKeyFromBytes } from "./keys.ts";
import { type LinkProfile } from "./link-profile.ts";
import { isDomainName } from "./names.ts";
import { type FilterRule, type MapDelta, type MapNames, type MapPeer, type MapSelf } from "./network-map.ts";
import type { NodeStatus } from "./node-status.ts";
import { Secret } from "./secret.ts";
import { aNetworkMap, aPeer, anAllowRule, aSelf, mustBe } from "./testing/index.ts";

const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const port = fc.integer({ min: 1, max: 65_535 });
const plain = (lengthMax: number) =>
  fc.string({ unit: fc.constantFrom(..."abcXYZ019 -_.äß日".split("")), maxLength: lengthMax });
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const title = fc.stringMatching(/^[a-zA-Zäöü][a-zA-Z 0-9]{0,20}[a-z]$/);
const ipv4 = fc
  .bigInt({ min: 1n, max: 2n ** 32n - 1n })
  .map((value) => ipFrom(4, value))
  .filter(isIpv4);
const ipv6 = fc
  .bigInt({ min: 1n, max: 2n ** 128n - 1n })
  .map((value) => ipFrom(6, value))
  .filter(isIpv6);
const ip = fc.oneof(ipv4, ipv6);
const endpoint = fc.tuple(ip, port).map(([address, number]) => mustBe(endpointOf(address, number)));
const prefix = fc.oneof(
  fc
    .tuple(u32, fc.integer({ min: 0, max: 32 }))
    .map(([value, length]) =>
      mustBe(prefixFrom(4, (BigInt(value) >> BigInt(32 - length)) << BigInt(32 - length), length)),
    ),
  fc
    .tuple(u64, fc.integer({ min: 64, max: 128 }))
    .map(([value, length]) =>
      mustBe(prefixFrom(6, ((value << 64n) >> BigInt(128 - length)) << BigInt(128 - length), length)),
    ),
);
const peerId = sized(16).map((bytes) => mustBe(peerIds.fromBytes(bytes)));
const jobId = sized(16).map((bytes) => mustBe(jobIds.fromBytes(bytes)));
const publicKey = sized(32).map((bytes) => mustBe(publicKeyFromBytes(bytes)));
const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const version = { epoch: u64, sequence: u64 };
const binding = fc.constantFrom("none" as const, "tls-exporter" as const);

const profile: fc.Arbitrary<LinkProfile> = fc.record({
  revision: fc.nat(0xffff_ffff),
  cipher: fc.constantFrom("chacha20-poly1305", "aes-256-gcm"),
  elision: fc.constantFrom("off", "on"),
  lanes: fc.integer({ min: 1, max: 64 }),
});
const peer: fc.Arbitrary<MapPeer> = fc.record(
  {
    id: peerId,
    name,
    publicKey,
    presharedKey: sized(32).map((bytes) => new Secret(bytes)),
    ipv4: fc.option(ipv4),
    ipv6: fc.option(ipv6),
    routes: fc.array(prefix, { maxLength: 4 }),
    endpoints: fc.array(endpoint, { maxLength: 5 }),
    keepaliveSeconds: fc.integer({ min: 0, max: 65_535 }),
    profile,
  },
  { requiredKeys: ["id", "name", "publicKey", "ipv4", "ipv6", "routes", "endpoints", "keepaliveSeconds"] },
);
const peers = fc.uniqueArray(peer, { maxLength: 8, selector: (entry) => entry.id });
const settings = {
  peerId,
  name,
  networkId: sized(16).map((bytes) => mustBe(networkIds.fromBytes(bytes))),
  networkName: title,
  ipv4: fc.option(ipv4),
  ipv6: fc.option(ipv6),
  ipv4Range: fc.option(prefix),
  ipv6Range: fc.option(prefix),
  mtu: fc.integer({ min: 1280, max: 65_535 }),
  listenPort: fc.integer({ min: 0, max: 65_535 }),
};
const profileFallback = fc.constantFrom("plain" as const, "refuse" as const);
const conceal = fc.record({
  profileId: sized(16).map((bytes) => mustBe(concealProfileIds.fromBytes(bytes))),
  version: fc.integer({ min: 1, max: 0xffff_ffff }),
  settings: fc.string({ maxLength: 200 }).map((text) => new Secret(text)),
});
const roads = {
  serves: fc.array(fc.record({ prefix, masquerade: fc.constantFrom("on" as const, "off" as const) }), {
    minLength: 1,
    maxLength: 4,
  }),
  exit: fc.record({
    peerId,
    lan: fc.constantFrom("reachable" as const, "blocked" as const),
    lost: fc.constantFrom("blocked" as const, "direct" as const),
  }),
};
const self: fc.Arbitrary<MapSelf> = fc.oneof(
  fc.record(settings),
  fc.record({ ...settings, profileFallback }),
  fc.record({ ...settings, conceal }),
  fc.record({ ...settings, flowSampling: fc.integer({ min: 1, max: 10_000 }) }),
  fc.record({ ...settings, ...roads }),
);
const portRange = fc.tuple(port, port).map(([a, b]) => ({ low: Math.min(a, b), high: Math.max(a, b) }));
const byte = fc.integer({ min: 0, max: 255 });
const ruleBase = {
  id: u32,
  action: fc.constantFrom("allow" as const, "deny" as const),
  direction: fc.constantFrom("in" as const, "out" as const, "both" as const),
  protocol: fc.option(byte),
  source: fc.option(fc.array(prefix, { maxLength: 4 })),
  destination: fc.option(fc.array(prefix, { maxLength: 4 })),
  replies: fc.constant("judged" as const),
};
const requiredKeys = ["id", "action", "direction", "protocol", "source", "destination", "ports"] as const;
const rule: fc.Arbitrary<FilterRule> = fc.oneof(
  fc.record(
    { ...ruleBase, ports: fc.option(fc.array(portRange, { minLength: 1, maxLength: 5 })) },
    { requiredKeys: [...requiredKeys] },
  ),
  fc.record(
    {
      ...ruleBase,
      ports: fc.constant(null),
      icmp: fc.record({ type: byte, code: fc.option(byte) }),
    },
    { requiredKeys: [...requiredKeys] },
  ),
);
const domain = fc.array(name, { minLength: 1, maxLength: 3 }).map((labels) => labels.join("."));
const recordBase = {
  name: fc.oneof(fc.constant("@"), domain.filter(isDomainName)),
  ttlSeconds: fc.integer({ min: 1, max: 86_400 }),
};
const names: fc.Arbitrary<MapNames> = fc.record({
  domain: domain.filter(isDomainName),
  host: fc.constantFrom("use" as const, "leave" as const),
  searchDomains: fc.array(domain.filter(isDomainName), { maxLength: 3 }),
  records: fc.array(
    fc.oneof(
      fc.record({ ...recordBase, type: fc.constant("A" as const), address: ipv4 }),
      fc.record({ ...recordBase, type: fc.constant("AAAA" as const), address: ipv6 }),
      fc.record({ ...recordBase, type: fc.constant("CNAME" as const), target: domain.filter(isDomainName) }),
    ),
    { maxLength: 4 },
  ),
  nameservers: fc.array(
    fc.record({
      domains: fc.array(domain.filter(isDomainName), { maxLength: 3 }),
      servers: fc.array(endpoint, { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 3 },
  ),
});
const delta: fc.Arbitrary<MapDelta> = fc.record(
  {
    self,
    upserts: peers,
    removals: fc.array(peerId, { maxLength: 5 }),
    filter: fc.array(rule, { maxLength: 4 }),
    names: fc.option(names),
  },
  { requiredKeys: ["upserts", "removals"] },
);

/** 0 is the word for "not told". */
const wallClock = fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const shared = fc.oneof(
  fc.record({ kind: fc.constant("ping" as const), token: u64 }),
  fc.record({ kind: fc.constant("pong" as const), token: u64, wallClockMs: wallClock }),
  fc.record({
    kind: fc.constant("bye" as const),
    reason: fc.constantFrom(...BYE_REASONS),
    detail: fc.constantFrom(...BYE_DETAILS),
    message: plain(100),
    retryAfterMs: u32,
  }),
  fc.record({ kind: fc.constant("unsupported" as const), frameNumber: u32 }),
);

const serverFrame: fc.Arbitrary<ServerFrame> = fc.oneof(
  shared,
  fc.record({
    kind: fc.constant("challenge" as const),
    serverKey: sized(32).map((bytes) => mustBe(serverKeyFromBytes(bytes))),
    serverNonce: sized(32),
    exchangeKey: sized(32),
    serverVersion: plain(20),
    protocolMin: u32,
    protocolMax: u32,
    channelBinding: binding,
    signature: sized(64),
  }),
  fc.record({
    kind: fc.constant("welcome" as const),
    peerId,
    epoch: u64,
    heartbeatMs: fc.integer({ min: 100, max: 600_000 }),
    mode: fc.constantFrom("resume" as const, "snapshot" as const),
    wallClockMs: wallClock,
  }),
  fc.record({
    kind: fc.constant("mapBegin" as const),
    ...version,
    compression: fc.constantFrom("none" as const, "deflate" as const),
    bodyBytes: u32,
    partCount: u32,
  }),
  fc.record({ kind: fc.constant("mapPart" as const), index: u32, bytes: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({ kind: fc.constant("mapEnd" as const), timeMs: time, partsHash: sized(32), signature: sized(64) }),
  fc.record({
    kind: fc.constant("delta" as const),
    ...version,
    baseSequence: u64,
    timeMs: time,
    body: fc.uint8Array({ maxLength: 300 }),
    signature: sized(64),
  }),
  fc.record({ kind: fc.constant("watch" as const), intervalMs: fc.integer({ min: 100, max: 600_000 }) }),
  fc.record({
    kind: fc.constant("job" as const),
    jobId,
    timeLimitMs: fc.integer({ min: 1, max: 600_000 }),
    work: fc.oneof(
      fc.record({ kind: fc.constant("ping" as const), target: ip, count: fc.integer({ min: 1, max: 100 }) }),
      fc.record({
        kind: fc.constant("profile" as const),
        seconds: fc.integer({ min: 1, max: 120 }),
        frequencyHz: fc.integer({ min: 1, max: 999 }),
        format: fc.constantFrom("folded" as const, "pprof" as const),
      }),
      fc.record({
        kind: fc.constant("debugBundle" as const),
        addresses: fc.constantFrom("keep" as const, "redact" as const),
      }),
      fc.record({ kind: fc.constant("trace" as const), target: ip, hopsMax: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constant("mtuProbe" as const), target: ip }),
      fc.record({
        kind: fc.constant("throughput" as const),
        role: fc.constantFrom("receive" as const, "send" as const),
        peer: ip,
        port: fc.integer({ min: 1, max: 65_535 }),
        seconds: fc.integer({ min: 1, max: 30 }),
        rate: fc.integer({ min: 0, max: 1e12 }),
        secret: sized(32),
      }),
      fc.record({
        kind: fc.constant("restart" as const),
        what: fc.constantFrom("engine" as const, "agent" as const),
      }),
    ),
  }),
  fc.record({ kind: fc.constant("jobCancel" as const), jobId }),
);

const counters = fc.integer({ min: 0, max: 20 }).chain((rows) => {
  const columnOf = <T>(entry: fc.Arbitrary<T>) => fc.array(entry, { minLength: rows, maxLength: rows });
  return fc.record({
    counterEpoch: u64,
    uptimeMs: time,
    peers: fc.record({
      peerIds: columnOf(peerId),
      rxBytes: columnOf(u64),
      rxPackets: columnOf(u64),
      txBytes: columnOf(u64),
      txPackets: columnOf(u64),
      drops: fc.array(fc.record({ reason: fc.stringMatching(/^[a-zA-Z]{1,20}$/), counts: columnOf(u64) }), {
        maxLength: 3,
      }),
      lastHandshakeAgeMs: columnOf(fc.option(fc.nat())),
      lastReceivedAgeMs: columnOf(fc.option(fc.nat())),
      sessionAgeMs: columnOf(fc.option(fc.nat())),
      endpoints: columnOf(fc.option(endpoint)),
    }),
    stages: fc.array(
      fc.record({
        shard: u32,
        stage: fc.constantFrom("seal", "open", "idle"),
        batches: u64,
        packets: u64,
        bytes: u64,
        nanoseconds: u64,
      }),
      { maxLength: 6 },
    ),
    totals: fc.array(fc.record({ name: fc.stringMatching(/^[a-zA-Z]{1,20}$/), value: u64 }), { maxLength: 5 }),
    cpuMicroseconds: u64,
    rssBytes: time,
    rules: fc.array(
      fc.record({
        rule: u32,
        packets: u64,
        bytes: u64,
        drops: u64,
        flows: u64,
        lastHitAgeMs: fc.option(fc.nat()),
      }),
      { maxLength: 4 },
    ),
  });
});

const ends = fc.oneof(fc.record({ local: ipv4, remote: ipv4 }), fc.record({ local: ipv6, remote: ipv6 }));
const anyPort = fc.option(fc.integer({ min: 0, max: 65_535 }));
const flow: fc.Arbitrary<FlowRecord> = fc
  .tuple(
    ends,
    fc.record({
      id: u64,
      peerId: fc.option(peerId),
      protocol: byte,
      localPort: anyPort,
      remotePort: anyPort,
      icmpType: fc.option(byte),
      began: fc.constantFrom("here" as const, "there" as const),
      verdict: fc.constantFrom("allow" as const, "deny" as const),
      rule: fc.option(u32),
      rxPackets: u64,
      rxBytes: u64,
      txPackets: u64,
      txBytes: u64,
      drops: u64,
      idleMs: fc.nat(),
      state: fc.constantFrom("open" as const, "ended" as const),
    }),
    fc.nat(),
  )
  .map(([addresses, record, moreMs]) => ({ ...addresses, ...record, ageMs: record.idleMs + moreMs }));

const agentFrame: fc.Arbitrary<AgentFrame> = fc.oneof(
  shared,
  fc.record({
    kind: fc.constant("flowRecords" as const),
    flows: fc.record({ counterEpoch: u64, lost: fc.nat(), records: fc.array(flow, { maxLength: 4 }) }),
  }),
  fc.record({
    kind: fc.constant("hello" as const),
    protocolVersion: u32,
    agentVersion: plain(20),
    identityKey: sized(32).map((bytes) => mustBe(identityKeyFromBytes(bytes))),
    publicKey,
    bootId: u64,
    counterEpoch: u64,
    lastMap: fc.option(fc.record(version)),
    hostname: plain(60),
    wantedName: plain(20),
    os: plain(20),
    arch: plain(10),
    capabilities: fc.array(plain(10), { maxLength: 4 }),
    channelBinding: binding,
    exchangeKey: fc.option(sized(32)),
    enrolmentBox: fc.option(fc.uint8Array({ minLength: 1, maxLength: 100 })),
    signature: sized(64),
  }),
  fc.record({
    kind: fc.constant("applied" as const),
    ...version,
    durationMs: u32,
    errors: fc.array(fc.record({ object: plain(10), detail: plain(50) }), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant("needMap" as const),
    reason: fc.constantFrom("gap" as const, "hash" as const, "start" as const, "compact" as const),
  }),
  fc.record({
    kind: fc.constant("status" as const),
    status: fc.record({
      interfaceName: fc.stringMatching(/^[a-z]{1,10}[0-9]$/),
      listenPort: port,
      shards: fc.integer({ min: 0, max: 64 }),
      endpoints: fc.array(endpoint, { maxLength: 5 }),
      offloads: fc.array(
        fc.record({
          name: plain(10),
          state: fc.constantFrom("on" as const, "off" as const, "fallback" as const),
          reason: fc.option(plain(30).filter((text) => text !== "")),
        }),
        { maxLength: 4 },
      ),
      wallClockMs: time,
      clockSkewMs: fc.option(fc.integer({ min: -8.64e15, max: 8.64e15 })),
      forwarding: fc.option(fc.constantFrom("works" as const, "fails" as const)),
      problems: fc.array(plain(60), { maxLength: 2 }),
    }),
  }),
  fc.record({ kind: fc.constant("counters" as const), counters }),
  fc.record({
    kind: fc.constant("jobResult" as const),
    jobId,
    outcome: fc.oneof(
      fc.record({ kind: fc.constant("failed" as const), message: plain(100) }),
      fc.record({
        kind: fc.constant("report" as const),
        parts: fc.integer({ min: 0, max: 10_000 }),
        bytes: fc.integer({ min: 0, max: 24 * 1024 * 1024 }),
        sha256: sized(32),
      }),
      fc.record({
        kind: fc.constant("ping" as const),
        sent: fc.constant(9),
        received: fc.integer({ min: 0, max: 9 }),
        rttMicroseconds: fc.array(u32, { maxLength: 9 }),
        endpoint: fc.option(endpoint),
      }),
    ),
  }),
  fc.record({
    kind: fc.constant("jobEvent" as const),
    jobId,
    content: fc.string({ maxLength: 500, unit: "grapheme" }),
  }),
  fc.record({
    kind: fc.constant("jobPart" as const),
    jobId,
    index: fc.integer({ min: 0, max: 10_000 }),
    content: fc.uint8Array({ maxLength: 300 }),
  }),
  fc.record({ kind: fc.constant("leave" as const) }),
);

describe("frames", () => {
  test("every server frame survives the wire", () => {
    fc.assert(
      fc.property(serverFrame, (frame) => {
        expect(mustBe(decodeServerFrame(encodeServerFrame(frame)))).toEqual(frame);
      }),
      { numRuns: 500 },
    );
  });

  test("every agent frame survives the wire", () => {
    fc.assert(
      fc.property(agentFrame, (frame) => {
        expect(mustBe(decodeAgentFrame(encodeAgentFrame(frame)))).toEqual(frame);
      }),
      { numRuns: 500 },
    );
  });

  test("arbitrary bytes give a value and never throw", () => {
    const decoders = [decodeServerFrame, decodeAgentFrame, decodeMapBody, decodeDeltaBody];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) =>
        decoders.every((decode) => typeof decode(bytes).ok === "boolean"),
      ),
      { numRuns: 3000 },
    );
  });

  test("flipped bytes of valid frames give a value and never throw", () => {
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 });
    const flip = (bytes: Uint8Array, places: readonly (readonly [number, number])[]): Uint8Array => {
      const changed = Uint8Array.from(bytes);
      for (const [place, mask] of places)
        changed[place % changed.length] = (changed[place % changed.length] ?? 0) ^ mask;
      return changed;
    };
    fc.assert(
      fc.property(
        agentFrame,
        flips,
        (frame, places) => typeof decodeAgentFrame(flip(encodeAgentFrame(frame), places)).ok === "boolean",
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        serverFrame,
        flips,
        (frame, places) => typeof decodeServerFrame(flip(encodeServerFrame(frame), places)).ok === "boolean",
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        delta,
        flips,
        (change, places) =>
          typeof decodeDeltaBody(flip(Uint8Array.of(...encodeDeltaBody(change), 0), places)).ok === "boolean",
      ),
      { numRuns: 1000 },
    );
  });

  test("AP-5 an unknown kind is named so that it can be answered with unsupported", () => {
    const field40 = Uint8Array.of(0xc2, 0x02, 0x01, 0x00);

    expect(decodeServerFrame(field40)).toEqual({ ok: false, error: { code: "unsupported", frameNumber: 40 } });
    expect(decodeAgentFrame(field40)).toEqual({ ok: false, error: { code: "unsupported", frameNumber: 40 } });
  });

  test("AP-5 an unknown field of a known kind is ignored", () => {
    const ping = encodeServerFrame({ kind: "ping", token: 7n });
    const inner = Uint8Array.of(...ping.subarray(3), 0x78, 0x05);
    const extended = Uint8Array.of(...ping.subarray(0, 2), inner.length, ...inner);

    expect(decodeServerFrame(extended)).toEqual({ ok: true, value: { kind: "ping", token: 7n } });
  });

  test("a frame above the limit is refused before it is read", () => {
    expect(decodeAgentFrame(new Uint8Array(FRAME_BYTES_MAX + 1))).toMatchObject({ error: { code: "too_large" } });
  });

  test("what a system says is made to fit, so that a long sentence of it costs no agent its stream", () => {
    const long = `tunnel: ${"x".repeat(600)}`;
    const status: NodeStatus = {
      interfaceName: "weft0",
      listenPort: 1,
      shards: 1,
      endpoints: [],
      offloads: [{ name: "tunTcp", state: "off", reason: long }],
      wallClockMs: 0,
      clockSkewMs: null,
      forwarding: null,
      problems: ["first line\nsecond line", long],
    };
    const outcome = { kind: "failed", message: `${long}\r\n` } as const;
    const errors = [{ object: long, detail: "a\tb" }];

    expect(decodeAgentFrame(encodeAgentFrame({ kind: "status", status }))).toMatchObject({
      value: { status: { problems: ["first line second line", long.slice(0, 500)] } },
    });
    const jobId = jobIds.make(() => new Uint8Array(16));
    expect(decodeAgentFrame(encodeAgentFrame({ kind: "jobResult", jobId, outcome })).ok).toBe(true);
    const applied = { kind: "applied", epoch: 1n, sequence: 1n, durationMs: 0, errors } as const;
    expect(decodeAgentFrame(encodeAgentFrame(applied)).ok).toBe(true);
  });

  test("a wrong field is named", () => {
    const frame = encodeServerFrame({
      kind: "welcome",
      peerId: peerIds.make(() => new Uint8Array(16)),
      epoch: 1n,
      heartbeatMs: 1,
      mode: "resume",
      wallClockMs: null,
    });

    expect(decodeServerFrame(frame)).toMatchObject({ error: { code: "invalid_field", field: "welcome.heartbeat" } });
  });

  test("AP-65: flow records beyond their bounds are refused with the name of the field", () => {
    const [record] = fc.sample(flow, { numRuns: 1, seed: 1 });
    const refused = (changed: Partial<FlowRecord>, copies = 1) => {
      const records = Array.from({ length: copies }, () => ({ ...record!, ...changed }));
      const bytes = encodeAgentFrame({ kind: "flowRecords", flows: { counterEpoch: 1n, lost: 0, records } });
      const read = decodeAgentFrame(bytes);
      return read.ok ? "taken" : JSON.stringify(read.error).replace(/^.*(flows\.\w+).*$/, "$1");
    };

    expect(refused({}, FLOW_RECORDS_MAX)).toBe("taken");
    expect(refused({}, FLOW_RECORDS_MAX + 1)).toBe("flows.records");
    expect(refused({ protocol: 256 })).toBe("flows.protocol");
    expect(refused({ local: ipFrom(4, 1n), remote: ipFrom(6, 1n) })).toBe("flows.remote");
    expect(refused({ localPort: 65_536 })).toBe("flows.local_port");
    expect(refused({ ageMs: 5, idleMs: 6 })).toBe("flows.idle");
  });
  test("a bye with words from a newer side still ends the stream", () => {
    // Field 62 (bye) with reason "shiny" in field 1.
    const bye = Uint8Array.of(0xf2, 0x03, 0x07, 0x0a, 0x05, 0x73, 0x68, 0x69, 0x6e, 0x79);

    expect(decodeServerFrame(bye)).toMatchObject({
      ok: true,
      value: { kind: "bye", reason: "protocol_error", detail: "none" },
    });
  });
});

describe("map bodies", () => {
  test("a map survives the wire, secrets included", () => {
    fc.assert(
      fc.property(self, peers, fc.array(rule, { maxLength: 5 }), (own, list, filter) => {
        const map = { self: own, peers: list, filter };
        const decoded = mustBe(decodeMapBody(encodeMapBody(map)));
        expect(decoded).toEqual(map);
        expect(decoded.peers.map(presharedHex)).toEqual(list.map(presharedHex));
      }),
    );
  });

  test("a delta survives the wire", () => {
    fc.assert(
      fc.property(delta, (change) => {
        expect(mustBe(decodeDeltaBody(encodeDeltaBody(change)))).toEqual(change);
      }),
    );
  });

  test("an id that appears twice is refused", () => {
    const twice = { ...aNetworkMap(0), peers: [aPeer(1), aPeer(1)] };

    expect(decodeMapBody(encodeMapBody(twice))).toMatchObject({ error: { code: "invalid_field", field: "peers.ids" } });
  });

  test("a peer of a large map takes about a hundred bytes", () => {
    const map = {
      ...aNetworkMap(0),
      peers: Array.from({ length: 1000 }, (_, index) =>
        aPeer(index, { endpoints: [mustBe(endpointOf(ipFrom(4, BigInt(index)), 51_820))] }),
      ),
    };

    expect(encodeMapBody(map).length / 1000).toBeLessThan(105);
  });

  test("a delta changes what it names and nothing else", () => {
    const before = aNetworkMap(3);
    const renamed = aPeer(2, { name: "renamed" });
    const after = applyDelta(before, {
      upserts: [renamed, aPeer(9)],
      removals: [aPeer(1).id],
      self: aSelf({ mtu: 1300 }),
    });

    expect(after.peers).toEqual([renamed, aPeer(3), aPeer(9)]);
    expect(after.peers[1]).toBe(before.peers[2]);
    expect(after.self.mtu).toBe(1300);
    expect(after.filter).toBe(before.filter);
    expect(applyDelta(before, { upserts: [], removals: [], filter: [] }).filter).toEqual([]);
    expect(before.filter).toEqual([anAllowRule()]);
  });
});

function presharedHex(entry: MapPeer): string {
  return entry.presharedKey ? toHex(entry.presharedKey.expose()) : "none";
}
