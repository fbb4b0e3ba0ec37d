import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { decode, encode, type Answer, type Packet } from "dns-packet";
import { parseEndpoint, parseIpv4, parseIpv6, type Endpoint, type MapNames } from "@weft/protocol";
import { aNetworkMap, aPeer, aSelf, mustBe } from "@weft/protocol/testing";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";

import { createAnswerCache } from "./answer-cache.ts";
import { fitDatagram, makeReply, readQuery } from "./dns-message.ts";
import { createForwarder, framed } from "./forwarder.ts";
import { openResolver } from "./resolver-server.ts";
import { createResolver } from "./resolver.ts";
import { createZone } from "./zone.ts";

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const run of undo.splice(0).toReversed()) await run();
});

const ipv4 = (text: string) => mustBe(parseIpv4(text));
const endpoint = (port: number): Endpoint => mustBe(parseEndpoint(`127.0.0.1:${port}`));

function theNames(changes: Partial<MapNames> = {}): MapNames {
  return {
    domain: "weft.internal",
    host: "use",
    searchDomains: [],
    records: [
      { name: "db", type: "A", address: ipv4("192.0.2.7"), ttlSeconds: 300 },
      { name: "db", type: "AAAA", address: mustBe(parseIpv6("2001:db8::7")), ttlSeconds: 5 },
      { name: "www", type: "CNAME", target: "db", ttlSeconds: 10 },
      { name: "deep.below", type: "A", address: ipv4("192.0.2.8"), ttlSeconds: 10 },
      { name: "round", type: "CNAME", target: "about", ttlSeconds: 10 },
      { name: "about", type: "CNAME", target: "round", ttlSeconds: 10 },
      { name: "far", type: "CNAME", target: "host.example", ttlSeconds: 10 },
    ],
    nameservers: [],
    ...changes,
  };
}

const mapWith = (names: MapNames) => aNetworkMap(2, { names, self: aSelf({ name: "me" }) });
const ask = (name: string, type: string, id = 7) =>
  encode({ type: "query", id, flags: 0x100, questions: [{ type: type as "A", name }] });

/** A resolver of the map's names, on loopback, with the port it got. */
async function start(names: MapNames, upstreams: readonly Endpoint[] = [], mayAsk = () => true): Promise<number> {
  const zone = createZone(mapWith(names));
  const cache = createAnswerCache(() => performance.now());
  const forwarder = createForwarder({ cache, randomId: () => 4_711, serverTimeoutMs: 15_000 });
  const resolver = createResolver({ zone: () => zone, forwarder, upstreams: () => upstreams });
  const opened = mustBe(await openResolver({ resolver, mayAsk }, { address: "127.0.0.1", port: 0 }));
  undo.push(opened.close);
  return opened.port;
}

/** A server that answers every question by `answer`; counts what it was asked over each transport. */
async function upstream(
  answer: (query: Packet, transport: "udp" | "tcp") => Buffer | null,
): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const reply = (message: Buffer, transport: "udp" | "tcp"): Buffer | null => {
    asked.push(transport);
    return answer(decode(message), transport);
  };
  const udp = createSocket("udp4");
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
  const { port } = udp.address();
  udp.on("message", (message, from) => {
    const bytes = reply(message, "udp");
    if (bytes) udp.send(bytes, from.port, from.address);
  });
  const tcp = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const bytes = reply(chunk.subarray(2), "tcp");
      if (bytes) socket.end(framed(bytes));
    });
  });
  await new Promise<void>((resolve) => tcp.listen(port, "127.0.0.1", resolve));
  undo.push(
    () => void udp.close(),
    () => void tcp.close(),
  );
  return { port, asked };
}

const answered = (query: Packet, answers: Answer[], flags = 0x180): Buffer =>
  encode({ type: "response", id: query.id ?? 0, flags, questions: query.questions ?? [], answers });

function overUdp(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket("udp4");
  undo.push(() => void socket.close());
  return new Promise((resolve) => {
    socket.once("message", resolve);
    socket.send(message, port, "127.0.0.1");
  });
}

function overTcp(port: number, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(framed(message)));
    let received = Buffer.alloc(0);
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.alloc(0)));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 2 + received.readUInt16BE(0)) {
        resolve(received.subarray(2));
        socket.destroy();
      }
    });
  });
}

const dataOf = (answer: Buffer) =>
  (decode(answer).answers ?? []).map((record) => ("data" in record ? record.data : record.type));
const codeOf = (answer: Buffer) => (answer[3] ?? 0) & 15;
const NXDOMAIN = 3;

describe("names of the network", () => {
  test("F-C6 F-C8 ND-21 peers and records are answered, with a lifetime of 10 s at most", async () => {
    const port = await start(theNames());
    const peer = aPeer(1);

    const questions = [
      ["peer-1.weft.internal", "A"],
      ["PEER-1.weft.INTERNAL", "AAAA"],
      ["me.weft.internal", "A"],
      ["db.weft.internal", "A"],
      ["db.weft.internal", "AAAA"],
      ["www.weft.internal", "A"],
    ] as const;
    const answers = await Promise.all(questions.map(([name, type]) => overUdp(port, ask(name, type))));

    expect(answers.map(dataOf)).toEqual([
      [peer.ipv4],
      [peer.ipv6],
      [aSelf().ipv4],
      ["192.0.2.7"],
      ["2001:db8::7"],
      ["db.weft.internal", "192.0.2.7"],
    ]);
    const lifetimes = answers.flatMap((answer) => decode(answer).answers?.map((one) => ("ttl" in one ? one.ttl : 0)));
    expect(Math.max(...lifetimes.map(Number))).toBe(10);
    expect(lifetimes).toContain(5);
    expect(dataOf(await overTcp(port, ask("db.weft.internal", "A")))).toEqual(["192.0.2.7"]);
  });

  test("ND-21 unknown names stay here, and a name without the asked type has an empty answer", async () => {
    const { port: server, asked } = await upstream(() => null);
    const port = await start(theNames({ nameservers: [{ domains: [], servers: [endpoint(server)] }] }));

    const unknown = await overUdp(port, ask("nobody.weft.internal", "A"));
    const below = await overUdp(port, ask("x.peer-1.weft.internal", "A"));
    const empty = await overUdp(port, ask("peer-1.weft.internal", "MX"));
    const between = await overUdp(port, ask("below.weft.internal", "A"));
    const circle = await overUdp(port, ask("round.weft.internal", "A"));

    expect([unknown, below].map(codeOf)).toEqual([NXDOMAIN, NXDOMAIN]);
    expect([empty, between, circle].map(codeOf)).toEqual([0, 0, 0]);
    expect([unknown, empty, between, circle].flatMap(dataOf)).toEqual([]);
    expect(decode(unknown).authorities?.map(({ type }) => type)).toEqual(["SOA"]);
    expect(asked).toEqual([]);
  });

  test("addresses of the network have names, others are asked elsewhere", () => {
    const zone = createZone(mapWith(theNames()));
    const v4 = (aPeer(1).ipv4 ?? "").split(".").toReversed().join(".");

    expect(zone?.ask(`${v4}.in-addr.arpa`, "PTR")).toMatchObject({ answers: [{ data: "peer-1.weft.internal" }] });
    expect(zone?.ask("9.9.77.10.in-addr.arpa", "PTR")).toMatchObject({ kind: "own", rcode: "NXDOMAIN" });
    expect(zone?.ask("1.2.0.192.in-addr.arpa", "PTR")).toEqual({ kind: "outside" });
  });

  test("whoever may not ask hears nothing, and no question is answered with silence only when it is an answer", async () => {
    const port = await start(theNames(), [], () => false);
    expect(await overTcp(port, ask("db.weft.internal", "A"))).toHaveLength(0);

    const open = await start(theNames());
    const broken = Buffer.from([0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63]);
    const update = ask("db.weft.internal", "A", 10);
    update[2] = 0x28;
    expect([codeOf(await overUdp(open, broken)), codeOf(await overUdp(open, update))]).toEqual([1, 4]);
  });
});

describe("other names", () => {
  test("F-C7 the longest domain decides who is asked, and the next server when one fails", async () => {
    const reply = (address: string) => (query: Packet) =>
      answered(query, [{ type: "A", name: query.questions?.[0]?.name ?? "", ttl: 60, data: address }]);
    const refusing = await upstream((query) => answered(query, [], 0x185));
    const corp = await upstream(reply("192.0.2.1"));
    const lab = await upstream(reply("192.0.2.2"));
    const host = await upstream(reply("192.0.2.3"));
    const nameservers = [
      { domains: ["corp.example"], servers: [endpoint(refusing.port), endpoint(corp.port)] },
      { domains: ["lab.corp.example"], servers: [endpoint(lab.port)] },
    ];
    const port = await start(theNames({ nameservers }), [endpoint(host.port)]);

    const answers = await Promise.all(
      ["a.corp.example", "corp.example", "x.lab.corp.example", "notcorp.example", "far.weft.internal"].map((name) =>
        overUdp(port, ask(name, "A")),
      ),
    );

    expect(answers.map(dataOf)).toEqual([
      ["192.0.2.1"],
      ["192.0.2.1"],
      ["192.0.2.2"],
      ["192.0.2.3"],
      ["host.example", "192.0.2.3"],
    ]);
    expect(refusing.asked).toEqual(["udp", "udp"]);
  });

  test("answers are remembered under the spelling and id of each asker, and only while they live", async () => {
    let nowMs = 0;
    const cache = createAnswerCache(() => nowMs);
    const query = (name: string, id: number) => {
      const read = readQuery(ask(name, "A", id));
      if (!read.ok) throw new Error("not a query");
      return read.query;
    };
    const record: Answer = { type: "A", name: "a.example", ttl: 20, data: "192.0.2.1" };
    cache.put(query("a.example", 1), answered(decode(ask("a.example", "A", 1)), [record]));

    nowMs = 5_000;
    const again = cache.get(query("A.Example", 99));
    expect(again && decode(again)).toMatchObject({
      id: 99,
      questions: [{ name: "A.Example" }],
      answers: [{ ttl: 15 }],
    });
    nowMs = 20_000;
    expect(cache.get(query("a.example", 2))).toBeNull();

    cache.put(query("b.example", 1), answered(decode(ask("b.example", "A", 1)), [], 0x182));
    expect(cache.get(query("b.example", 1))).toBeNull();
  });

  test("a long answer comes over TCP from the server and to the asker, and says so in a datagram", async () => {
    const many = Array.from({ length: 80 }, (_, number): Answer => ({
      type: "A",
      name: "big.example",
      ttl: 60,
      data: `192.0.2.${number + 1}`,
    }));
    const server = await upstream((query, transport) =>
      transport === "tcp" ? answered(query, many) : answered(query, [], 0x380),
    );
    const port = await start(theNames(), [endpoint(server.port)]);

    const short = await overUdp(port, ask("big.example", "A"));
    const whole = await overTcp(port, ask("big.example", "A"));

    expect(((short[2] ?? 0) & 2) !== 0).toBe(true);
    expect(dataOf(short)).toEqual([]);
    expect(dataOf(whole)).toHaveLength(80);
    expect(server.asked).toEqual(["udp", "tcp"]);
  });

  test("an asker that takes more gets more in a datagram", () => {
    const edns = { type: "OPT", name: ".", udpPayloadSize: 4_096, flags: 0 } as Answer;
    const questions = [{ type: "A", name: "big.example" } as const];
    const read = readQuery(encode({ type: "query", id: 1, flags: 0x100, questions, additionals: [edns] }));
    if (!read.ok) throw new Error("not a query");
    const records = Array.from({ length: 80 }, (_, number): Answer => ({
      type: "A",
      name: "big.example",
      ttl: 60,
      data: `192.0.2.${number + 1}`,
    }));
    const reply = makeReply(read.query, { rcode: "NOERROR", answers: records });
    expect(reply.length).toBeGreaterThan(1_232);
    expect(fitDatagram(reply, read.query)).toBe(reply);
    expect(decode(reply).additionals?.map(({ type }) => type)).toEqual(["OPT"]);
  });
});

test("foreign bytes never throw, whoever sends them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const read = readQuery(Buffer.from(bytes));
      if (read.ok) makeReply(read.query, { rcode: "NOERROR", answers: [] });
    }),
  );
  fc.assert(
    fc.property(fc.nat(200), fc.nat(255), (at, value) => {
      const message = Buffer.from(ask("a.weft.internal", "A"));
      message[at % message.length] = value;
      const read = readQuery(message);
      if (read.ok) createZone(mapWith(theNames()))?.ask(read.query.name, read.query.type);
    }),
  );
});
