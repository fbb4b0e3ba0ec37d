import { encodeAgentFrame, isRecord, parseEndpoint } from "@weft/protocol";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually, makeIdentity } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let joinKey: string;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
  joinKey = (await makeKey(owner, network.id)).key;
});
afterAll(() => server.dispose());

test("a node joins with a key, gets a signed map first, and is shown online with the map applied", async () => {
  const agent = await connectAgent(server.url, { joinKey, hostname: "web-1" });

  const welcome = await agent.next("welcome");
  await agent.until(() => true);

  expect(welcome.mode).toBe("snapshot");
  expect(
    agent.frames
      .map(({ kind }) => kind)
      .filter((kind) => kind !== "ping")
      .slice(0, 5),
  ).toEqual(["challenge", "welcome", "mapBegin", "mapPart", "mapEnd"]);
  expect(agent.map().self).toMatchObject({ peerId: welcome.peerId, name: "web-1", networkName: "office" });
  const peer = await eventually("the applied map", async () => {
    const { body } = await owner.get(`/api/v1/peers/${welcome.peerId}`);
    return body.map.state === "applied" ? body : undefined;
  });
  expect(peer).toMatchObject({ name: "web-1", presence: "online", os: "linux" });
  expect(peer.map.appliedAfterMs).toBeLessThan(1_000);
  agent.leave();
});

test("two nodes of a network with the all-to-all rule see each other within a second", async () => {
  const first = await connectAgent(server.url, { joinKey });
  await first.until(() => true);
  const second = await connectAgent(server.url, { joinKey });
  const { peerId } = await second.next("welcome");

  const startedMs = Date.now();
  const map = await first.until(({ peers }) => peers.some(({ id }) => id === peerId));

  expect(Date.now() - startedMs).toBeLessThan(1_000);
  expect(map.peers.find(({ id }) => id === peerId)?.publicKey).toBe(second.identity.publicKey);
  expect(map.filter).toHaveLength(1);
  first.leave();
  second.leave();
});

test("SEC-30 SEC-5 AP-80 50 parallel enrolments with a one-off key: exactly one succeeds", async () => {
  const { key } = await makeKey(owner, network.id, { usesMax: 1 });

  const agents = await Promise.all(Array.from({ length: 50 }, () => connectAgent(server.url, { joinKey: key })));

  const answers = agents.map(({ frames }) => frames.find(({ kind }) => kind === "welcome" || kind === "bye"));
  expect(answers.filter((frame) => frame?.kind === "welcome")).toHaveLength(1);
  expect(answers.filter((frame) => frame?.kind === "bye" && frame.detail === "enrolment_key_used_up")).toHaveLength(49);
  for (const agent of agents) agent.cut();
});

test("CP-ID5 a known identity that joins again keeps id, name and addresses, and spends no key", async () => {
  const identity = makeIdentity();
  const { key } = await makeKey(owner, network.id, { usesMax: 1 });
  const first = await connectAgent(server.url, { joinKey: key, identity, hostname: "keeper" });
  const before = (await first.until(() => true)).self;
  first.leave();

  const again = await connectAgent(server.url, { joinKey: key, identity, hostname: "renamed-host" });

  expect((await again.until(() => true)).self).toEqual(before);
  again.leave();
});

test("duplicate host names get numbered names, hostile ones become labels", async () => {
  const names: string[] = [];
  for (const hostname of ["db", "db", "DB.example.org", "localhost", "Bürö <script>"]) {
    const agent = await connectAgent(server.url, { joinKey, hostname });
    names.push((await agent.until(() => true)).self.name);
    agent.leave();
  }

  expect(names).toEqual(["db", "db-2", "db-3", "localhost-2", "buro-script"]);
});

test("AP-3 a hello that is not signed by its identity key is refused", async () => {
  const agent = await connectAgent(server.url, {
    joinKey,
    tamper: (hello) => ({ ...hello, hostname: "someone-else" }),
  });

  expect(await agent.next("bye")).toMatchObject({ reason: "unauthorised", detail: "bad_signature" });
});

test("AP-3 SEC-3 a hello recorded on one connection is refused on another, in words that its sender cannot read", async () => {
  const identity = makeIdentity();
  let recorded: Parameters<NonNullable<Parameters<typeof connectAgent>[1]>["tamper"] & object>[0] | undefined;
  const honest = await connectAgent(server.url, { joinKey, identity, tamper: (hello) => (recorded = hello) });
  await honest.next("welcome");

  const replay = await connectAgent(server.url, { identity, tamper: (hello) => recorded ?? hello });

  await eventually("the closed line", () => replay.isClosed() || undefined);
  expect(replay.frames.map(({ kind }) => kind)).toEqual(["challenge"]);
  expect(replay.recorded.slice(1).every(isRecord)).toBe(true);
  honest.leave();
});

test.each([
  { protocolVersion: 0, detail: "agent_too_old" },
  { protocolVersion: 99, detail: "agent_too_new" },
])(
  "CP-86 AP-8 an agent of version $protocolVersion is told it is incompatible: $detail",
  async ({ protocolVersion, detail }) => {
    const agent = await connectAgent(server.url, { joinKey, protocolVersion });

    expect(await agent.next("bye")).toMatchObject({ reason: "incompatible", detail });
  },
);

test("an unknown node without a key is refused with its reason", async () => {
  const agent = await connectAgent(server.url);

  expect(await agent.next("bye")).toMatchObject({ reason: "unauthorised", detail: "unknown_node" });
});

test("AP-46 a removed node loses its stream at once with the reason, and all others forget it", async () => {
  const stays = await connectAgent(server.url, { joinKey });
  const goes = await connectAgent(server.url, { joinKey });
  const { peerId } = await goes.next("welcome");
  await stays.until(({ peers }) => peers.some(({ id }) => id === peerId));

  const answer = await owner.call("DELETE", `/api/v1/peers/${peerId}`);

  expect(answer.status).toBe(204);
  expect(await goes.next("bye")).toMatchObject({ reason: "removed" });
  await stays.until(({ peers }) => peers.every(({ id }) => id !== peerId));
  await eventually("the closed stream", () => goes.isClosed() || undefined);
  expect((await owner.call("DELETE", `/api/v1/peers/${peerId}`)).status).toBe(404);
  const back = await connectAgent(server.url, { identity: goes.identity });
  expect(await back.next("bye")).toMatchObject({ detail: "unknown_node" });
  stays.leave();
});

test("AP-30 deleting a network tells its nodes to leave and frees everything in it", async () => {
  const doomed = (await owner.post("/api/v1/networks", { name: "doomed" })).body;
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, doomed.id)).key });
  const { peerId } = await agent.next("welcome");

  await owner.call("DELETE", `/api/v1/networks/${doomed.id}`);

  expect(await agent.next("bye")).toMatchObject({ reason: "removed" });
  expect((await owner.get(`/api/v1/peers/${peerId}`)).status).toBe(404);
  expect((await owner.get(`/api/v1/networks/${doomed.id}/rules`)).status).toBe(404);
});

test("a key of another network does not move a node that is a member already", async () => {
  const other = (await owner.post("/api/v1/networks", { name: "other" })).body;
  const agent = await connectAgent(server.url, { joinKey });
  await agent.next("welcome");
  agent.leave();

  const elsewhere = await connectAgent(server.url, {
    identity: agent.identity,
    joinKey: (await makeKey(owner, other.id)).key,
  });

  expect(await elsewhere.next("bye")).toMatchObject({
    reason: "unauthorised",
    message: expect.stringContaining("member of office"),
  });
});

test("AP-80 an expired or revoked key lets nobody in", async () => {
  const made = await makeKey(owner, network.id);
  await owner.call("DELETE", `/api/v1/enrolment-keys/${made.id}`);

  const agent = await connectAgent(server.url, { joinKey: made.key });

  expect(await agent.next("bye")).toMatchObject({ reason: "unauthorised", detail: "enrolment_key_expired" });
});

test("a node that leaves by itself is removed", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");

  agent.send({ kind: "leave" });

  expect(await agent.next("bye")).toMatchObject({ reason: "removed" });
  expect((await owner.get(`/api/v1/peers/${peerId}`)).status).toBe(404);
});

test("CP-6 AP-28 removing the last rule denies everything, creating it again allows again", async () => {
  const first = await connectAgent(server.url, { joinKey });
  const second = await connectAgent(server.url, { joinKey });
  await first.until(({ peers }) => peers.length > 0);
  const { body } = await owner.get(`/api/v1/networks/${network.id}/rules`);

  await owner.call("DELETE", `/api/v1/rules/${body.items[0].id}`);
  const closed = await first.until(({ peers, filter }) => peers.length === 0 && filter.length === 0);
  await owner.post(`/api/v1/networks/${network.id}/rules`, { kind: "all-to-all" });
  const opened = await first.until(({ peers, filter }) => peers.length > 0 && filter.length === 1);

  expect(closed.peers).toEqual([]);
  expect(opened.peers.length).toBeGreaterThan(0);
  first.leave();
  second.leave();
});

test("rules with protocol and ports reach the nodes in their order, and a rule that is off does not", async () => {
  const first = await connectAgent(server.url, { joinKey });
  const rules = `/api/v1/networks/${network.id}/rules`;
  const noSsh = { kind: "all-to-all", name: "no ssh", action: "deny", protocol: "tcp", ports: [{ low: 22, high: 22 }] };

  const denied = (await owner.post(rules, { ...noSsh, position: "first" })).body;
  const off = (await owner.post(rules, { kind: "all-to-all", protocol: "udp", state: "off" })).body;
  const ping = (await owner.post(rules, { kind: "all-to-all", protocol: "icmp", icmpType: 8 })).body;
  const { filter } = await first.until((map) => map.filter.length === 3);

  expect(filter.map(({ action, protocol, ports, icmp }) => ({ action, protocol, ports, icmp }))).toEqual([
    { action: "deny", protocol: 6, ports: [{ low: 22, high: 22 }], icmp: undefined },
    { action: "allow", protocol: null, ports: null, icmp: undefined },
    { action: "allow", protocol: 1, ports: null, icmp: { type: 8, code: null } },
  ]);
  expect(denied).toMatchObject({ name: "no ssh", state: "on" });
  expect(denied.place).toBeLessThan(off.place);
  for (const { id } of [denied, off, ping]) await owner.call("DELETE", `/api/v1/rules/${id}`);
  await first.until((map) => map.filter.length === 1);
  first.leave();
});

test("F-B5 a rule that makes no sense is refused with the field and the reason", async () => {
  const rules = `/api/v1/networks/${network.id}/rules`;
  for (const [wrong, reason] of [
    [{ protocol: "icmp", ports: [{ low: 1, high: 2 }] }, "ports: only tcp and udp have ports"],
    [{ protocol: "tcp", ports: [{ low: 9, high: 2 }] }, "ports: the range 9-2 ends before it begins"],
    [{ icmpType: 8 }, "icmpType: only icmp and icmpv6 have types"],
    [{ protocol: "icmp", icmpCode: 1 }, "icmpCode: a code belongs to a type"],
  ] as const) {
    const answer = await owner.post(rules, { kind: "all-to-all", ...wrong });
    expect([answer.status, answer.body.code]).toEqual([422, "rule_fault"]);
    expect(answer.body.detail).toContain(reason);
  }
});

test("AP-20 AP-21 a current node resumes; one with a gap gets a whole map again", async () => {
  const identity = makeIdentity();
  const agent = await connectAgent(server.url, { joinKey, identity });
  await agent.until(() => true);
  agent.leave();

  const version = agent.version();
  const resumed = await connectAgent(server.url, { identity, lastMap: version });
  const behind = await connectAgent(server.url, { identity, lastMap: { ...version, sequence: version.sequence - 1n } });
  const before = behind.frames.filter(({ kind }) => kind === "mapEnd").length;
  behind.send({ kind: "needMap", reason: "gap" });

  expect((await resumed.next("welcome")).mode).toBe("resume");
  expect((await behind.next("welcome")).mode).toBe("snapshot");
  await eventually(
    "another map",
    () => behind.frames.filter(({ kind }) => kind === "mapEnd").length > before || undefined,
  );
  expect(await resumed.next("bye")).toMatchObject({ reason: "replaced" });
  behind.leave();
});

test("AP-21 CP-1 a node that knows a later sequence proves lost history: a new epoch and a whole map follow", async () => {
  const identity = makeIdentity();
  const agent = await connectAgent(server.url, { joinKey, identity });
  await agent.until(() => true);
  const version = agent.version();
  agent.leave();

  const ahead = await connectAgent(server.url, {
    identity,
    lastMap: { ...version, sequence: version.sequence + 1_000n },
  });

  const welcome = await ahead.next("welcome");
  expect(welcome.mode).toBe("snapshot");
  expect(welcome.epoch).not.toBe(version.epoch);
  await ahead.until(() => true);
  expect(ahead.version().epoch).toBe(welcome.epoch);
  ahead.leave();
});

test("AP-44 a broken stream that is back within the grace time is never shown offline; a farewell is", async () => {
  const identity = makeIdentity();
  const agent = await connectAgent(server.url, { joinKey, identity });
  const { peerId } = await agent.next("welcome");
  const presence = async () => (await owner.get(`/api/v1/peers/${peerId}`)).body.presence;
  agent.cut();
  await eventually("the closed line", () => agent.isClosed() || undefined);
  const whileBroken = await presence();

  const again = await connectAgent(server.url, { identity });
  const afterReturn = await presence();
  again.leave();

  expect([whileBroken, afterReturn]).toEqual(["online", "online"]);
  await eventually("offline", async () => ((await presence()) === "offline" ? true : undefined));
});

test("AP-5 unknown frames are answered with unsupported, broken ones end the stream with the reason", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  await agent.next("welcome");

  // Field 500, length-delimited, empty: a kind that does not exist.
  agent.sendRaw(Uint8Array.of(0xa2, 0x1f, 0x00));
  expect(await agent.next("unsupported")).toMatchObject({ frameNumber: 500 });
  agent.sendRaw(Uint8Array.of(0xff, 0xff, 0xff));

  expect(await agent.next("bye")).toMatchObject({ reason: "protocol_error" });
});

test("a node that refuses every map gets the next one after a pause, not at once", async () => {
  const agent = await connectAgent(server.url, { joinKey, confirm: "hold" });
  const startedMs = performance.now();

  for (let maps = 0; maps < 4; maps += 1) {
    await agent.next("mapEnd");
    agent.send({ kind: "needMap", reason: "hash" });
  }

  expect(performance.now() - startedMs).toBeGreaterThan(1_400);
  agent.leave();
});

test("an unknown frame before the hello is not answered: it ends the stream", async () => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/agent/v1?nonce=${"A".repeat(43)}`);
  const received: Uint8Array[] = [];
  socket.on("message", (data: Buffer) => {
    received.push(data);
    // Field 500, as above.
    if (received.length === 1)
      for (let count = 0; count < 100; count += 1) socket.send(Uint8Array.of(0xa2, 0x1f, 0x00));
  });

  const code = await new Promise((resolve) => socket.on("close", resolve));

  expect(code).toBe(1000);
  expect(received).toHaveLength(1);
});

test.each<[string, (agent: SimulatedAgent) => void]>([
  ["changed", ({ socket }) => socket.send(Uint8Array.of(0, ...randomBytes(40)))],
  ["sent in the clear", ({ socket }) => socket.send(encodeAgentFrame({ kind: "leave" }))],
  ["text", ({ socket }) => socket.send("leave")],
])("SEC-3 a message that is %s ends the stream without effect; the node comes back", async (_, attack) => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");

  attack(agent);
  await eventually("the closed line", () => agent.isClosed() || undefined);

  const again = await connectAgent(server.url, { identity: agent.identity });
  expect((await again.next("welcome")).peerId).toBe(peerId);
  again.leave();
});

test("SEC-3 records that are repeated on the way end the stream before they count", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  await agent.next("welcome");
  const send = agent.socket.send.bind(agent.socket);
  const sent: Uint8Array[] = [];
  agent.socket.send = (bytes: Uint8Array) => {
    sent.push(bytes);
    send(bytes);
  };
  agent.send({ kind: "ping", token: 7n });
  expect(await agent.next("pong")).toMatchObject({ token: 7n });

  for (const bytes of sent) send(bytes);

  await eventually("the closed line", () => agent.isClosed() || undefined);
  expect(agent.frames.filter(({ kind }) => kind === "pong")).toHaveLength(1);
});

test("AP-3 SEC-3 a hello without its ephemeral key is refused: nothing is ever said unprotected", async () => {
  const agent = await connectAgent(server.url, { joinKey, tamper: (hello) => ({ ...hello, exchangeKey: null }) });

  expect(await agent.next("bye")).toMatchObject({ reason: "incompatible" });
  expect(agent.frames.map(({ kind }) => kind)).toEqual(["challenge", "bye"]);
});

test("AP-4 what travels shows neither the enrolment key nor anything of the map", async () => {
  const hellos: Uint8Array[] = [];
  const agent = await connectAgent(server.url, {
    joinKey,
    tamper: (hello) => {
      hellos.push(encodeAgentFrame(hello));
      return hello;
    },
  });
  await agent.until(() => true);
  // A change of the map travels uncompressed: without protection the name would stand in it as it is.
  const other = await connectAgent(server.url, { joinKey, hostname: "secret-neighbour" });
  await agent.until(({ peers }) => peers.some(({ name }) => name === "secret-neighbour"));

  const textOf = (list: readonly Uint8Array[]) => Buffer.concat(list).toString("latin1");
  const bodies = agent.frames.flatMap((frame) => (frame.kind === "delta" ? [frame.body] : []));
  expect(textOf(bodies)).toContain("secret-neighbour");
  expect(textOf(agent.recorded)).not.toContain("secret-neighbour");
  expect(agent.recorded.slice(1).every(isRecord)).toBe(true);
  expect(textOf(hellos)).not.toContain(joinKey.slice(0, 40));
  agent.leave();
  other.leave();
});

test("endpoints reach the others, addresses that cannot work do not", async () => {
  const first = await connectAgent(server.url, { joinKey });
  const second = await connectAgent(server.url, { joinKey });
  const { peerId } = await second.next("welcome");
  const overlay = (await second.until(() => true)).self.ipv4;

  second.send({
    kind: "status",
    status: {
      interfaceName: "weft0",
      listenPort: 51_820,
      shards: 1,
      endpoints: ["192.168.7.2:51820", "127.0.0.1:51820", `${overlay}:51820`].map(endpoint),
      offloads: [],
      wallClockMs: Date.now(),
      clockSkewMs: null,
      forwarding: null,
      problems: [],
    },
  });

  const map = await first.until(({ peers }) =>
    peers.some(({ id, endpoints }) => id === peerId && endpoints.length > 0),
  );
  expect(map.peers.find(({ id }) => id === peerId)?.endpoints).toEqual(["192.168.7.2:51820"]);
  const { body } = await owner.get(`/api/v1/peers/${peerId}`);
  expect(body.endpoints).toEqual([{ address: "192.168.7.2:51820", source: "interface" }]);
  first.leave();
  second.leave();
});

test("a ping job runs on its node and comes back", async () => {
  const from = await connectAgent(server.url, { joinKey });
  const to = await connectAgent(server.url, { joinKey });
  const fromId = (await from.next("welcome")).peerId;
  const toId = (await to.next("welcome")).peerId;

  const answer = owner.post(`/api/v1/peers/${fromId}/ping`, { targetPeerId: toId, count: 2 });
  const job = await from.next("job");
  from.send({
    kind: "jobResult",
    jobId: job.jobId,
    outcome: { kind: "ping", sent: 2, received: 2, rttMicroseconds: [310, 290], endpoint: endpoint("192.0.2.7:1") },
  });

  expect(job.work).toEqual({ kind: "ping", target: to.map().self.ipv4, count: 2 });
  expect((await answer).body).toEqual({
    sent: 2,
    received: 2,
    rttMicroseconds: [310, 290],
    endpoint: "192.0.2.7:1",
    path: "direct",
  });
  from.leave();
  await eventually("offline", async () => {
    const { body } = await owner.post(`/api/v1/peers/${fromId}/ping`, { targetPeerId: toId });
    return body.code === "peer_offline" ? true : undefined;
  });
  to.leave();
});

function endpoint(text: string) {
  const parsed = parseEndpoint(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}
