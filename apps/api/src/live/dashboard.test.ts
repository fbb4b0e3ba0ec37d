import type { AgentFrame, PeerId } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { subscribe } from "../testing/event-stream.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { Identity } from "../testing/simulated-agent.ts";

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

test("F-E5 the network page hears of joins, applied maps, rates, renames and removals", async () => {
  const stream = await subscribe(server.url, owner.cookie() ?? "", {
    path: "live.network",
    input: { networkId: network.id },
  });
  await stream.next(({ kind }) => kind === "peers");
  const agent = await connectAgent(server.url, { joinKey, hostname: "seen" });
  const other = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const link = (await other.next("welcome")).peerId;

  const joined = await stream.next(
    ({ kind, peers }) =>
      kind === "peers" &&
      peers.some(({ id, presence, map }: Json) => id === peerId && presence === "online" && map.state === "applied"),
  );
  const watch = await agent.next("watch");
  agent.send(counters(agent.identity, { uptimeMs: 1_000, links: [link], bytes: 0n }));
  agent.send(counters(agent.identity, { uptimeMs: 2_000, links: [link], bytes: 1_000n }));
  const sentMs = Date.now();
  const sample = await stream.next(({ kind, peers }) => kind === "sample" && peers.length > 0);
  const delayMs = Date.now() - sentMs;
  await owner.call("PATCH", `/api/v1/peers/${peerId}`, { name: "renamed" });
  const renamed = await stream.next(
    ({ kind, peers }) => kind === "peers" && peers.some(({ name }: Json) => name === "renamed"),
  );
  await owner.call("DELETE", `/api/v1/peers/${peerId}`);
  const removed = await stream.next(({ kind }) => kind === "peer-removed");

  expect(joined.peers[0].name).toBeTruthy();
  expect(watch.intervalMs).toBe(1_000);
  expect(sample).toMatchObject({
    peers: [{ peerId, rxBitsPerSecond: 8_000, rxBytes: "1000" }],
    totals: { rxBitsPerSecond: 8_000 },
  });
  expect(delayMs).toBeLessThan(2_000);
  expect(renamed.peers.map(({ id }: Json) => id)).toContain(peerId);
  expect(removed.peerId).toBe(peerId);
  stream.close();
  await eventually("the end of the watch", () =>
    other.frames.find((frame) => frame.kind === "watch" && frame.intervalMs === 10_000),
  );
  other.leave();
});

test("the network page gets the history of the whole network first, ending where its samples go on", async () => {
  const watch = () =>
    subscribe(server.url, owner.cookie() ?? "", { path: "live.network", input: { networkId: network.id } });
  const agent = await connectAgent(server.url, { joinKey });
  const other = await connectAgent(server.url, { joinKey });
  await agent.next("welcome");
  const link = (await other.next("welcome")).peerId;
  const early = await watch();
  agent.send(counters(agent.identity, { uptimeMs: 1_000, links: [link], bytes: 0n }));
  agent.send(counters(agent.identity, { uptimeMs: 2_000, links: [link], bytes: 1_000n }));
  const seen = await early.next(({ kind, totals }) => kind === "sample" && totals.rxBitsPerSecond === 8_000);
  early.close();

  const late = await watch();
  const sample = await late.next(({ kind }) => kind === "sample");

  const [first] = late.events;
  expect(first.kind).toBe("history");
  expect(first.points).toContainEqual({ atMs: seen.atMs, ...seen.totals });
  expect(sample.atMs).toBeGreaterThan(first.points.at(-1).atMs);
  late.close();
  agent.leave();
  other.leave();
});

test("the peer page gets history first, then links, drops, stages and offload state", async () => {
  const agent = await connectAgent(server.url, { joinKey, hostname: "busy" });
  const other = await connectAgent(server.url, { joinKey, hostname: "partner" });
  const { peerId } = await agent.next("welcome");
  const link = (await other.next("welcome")).peerId;
  for (const step of [1, 2, 3])
    agent.send(counters(agent.identity, { uptimeMs: step * 1_000, links: [link], bytes: BigInt(step) * 500n }));
  await eventually("counters", async () =>
    (await owner.get(`/api/v1/peers/${peerId}`)).body.rxBytes === "1500" ? true : undefined,
  );

  const stream = await subscribe(server.url, owner.cookie() ?? "", { path: "live.peer", input: { peerId } });
  const history = await stream.next(() => true);
  agent.send(counters(agent.identity, { uptimeMs: 4_000, links: [link], bytes: 2_500n }));
  const sample = await stream.next(({ kind, links }) => kind === "sample" && links[0].rxBytes === "2500");

  expect(history).toMatchObject({ kind: "history", points: [{ rxBitsPerSecond: 4_000 }, { rxBitsPerSecond: 4_000 }] });
  expect(sample).toMatchObject({
    rxBitsPerSecond: 8_000,
    links: [{ peerId: link, name: "partner", rxBitsPerSecond: 8_000, drops: { replay: "3" }, sessionAgeSeconds: 1.5 }],
    drops: { dropNoPeer: "4" },
    stages: [{ shard: 0, stage: "seal", packets: 10 }],
    cpuPercent: 50,
    rssBytes: 1_000_000,
  });
  stream.close();
  agent.leave();
  other.leave();
});

test.each(["session", "token"])("SEC-6 the open stream of a %s that ended is over within a second", async (kind) => {
  const browser = createRestClient(server.url);
  await browser.post("/api/v1/sessions", { login: "olga", password: "correct horse" });
  const token = await owner.post("/api/v1/tokens", { name: kind, scopes: ["networks:read", "peers:read"] });
  const credential = kind === "token" ? { token: token.body.token } : (browser.cookie() ?? "");
  const watch = { path: "live.network", input: { networkId: network.id } };
  const stream = await subscribe(server.url, credential, watch);
  const other = await subscribe(server.url, owner.cookie() ?? "", watch);
  await stream.next((event) => event.kind === "sample");
  await stream.next((event) => event.kind === "sample");

  const ending =
    kind === "token"
      ? await owner.call("DELETE", `/api/v1/tokens/${token.body.id}`)
      : await browser.call("DELETE", "/api/v1/sessions/current");
  const endedMs = Date.now();
  await stream.ended;
  const delayMs = Date.now() - endedMs;

  expect(ending.status).toBe(204);
  expect(delayMs).toBeLessThan(1_500);
  expect(stream.events.at(-1)).toMatchObject({ data: { problem: { status: 401, code: "not_authenticated" } } });
  const samples = other.events.length;
  await eventually("the other stream to go on", () => (other.events.length > samples ? true : undefined));
  other.close();
});

test("the page of a peer whose node is silent hears a heartbeat every second, and no old sample as new", async () => {
  let aheadMs = 0;
  const app = await createTestApp({ clock: { nowMs: () => Date.now() + aheadMs } });
  const setup = await setUp(app.url);
  const { key } = await makeKey(setup.owner, setup.network.id);
  const agent = await connectAgent(app.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  for (const step of [1, 2])
    agent.send(counters(agent.identity, { uptimeMs: step * 1_000, links: [peerId], bytes: BigInt(step) * 500n }));
  await eventually("counters", async () =>
    (await setup.owner.get(`/api/v1/peers/${peerId}`)).body.rxBytes === "1000" ? true : undefined,
  );
  const watch = () => subscribe(app.url, setup.owner.cookie() ?? "", { path: "live.peer", input: { peerId } });
  const early = await watch();
  const sample = await early.next(({ kind }) => kind === "sample");
  early.close();
  agent.leave();

  aheadMs = 13_000;
  const late = await watch();
  const beats = [await late.next(isBeat), await late.next(isBeat)];

  expect(sample).toMatchObject({ rxBytes: "1000", txBytes: "1000" });
  expect(beats[1].atMs).toBeGreaterThan(beats[0].atMs);
  expect(late.events.map(({ kind }) => kind)).not.toContain("sample");
  late.close();
  await app.dispose();
});

test("totals of the peer page keep what was exchanged with peers that are gone", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const leaver = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const link = (await leaver.next("welcome")).peerId;
  const stream = await subscribe(server.url, owner.cookie() ?? "", { path: "live.peer", input: { peerId } });
  agent.send(counters(agent.identity, { uptimeMs: 1_000, links: [link], bytes: 700n }));
  await stream.next(({ kind, rxBytes }) => kind === "sample" && rxBytes === "700");

  await agent.until(({ peers }) => peers.some(({ id }) => id === link));
  await owner.call("DELETE", `/api/v1/peers/${link}`);
  await agent.until(({ peers }) => peers.every(({ id }) => id !== link));
  agent.send(counters(agent.identity, { uptimeMs: 2_000, links: [], bytes: 0n }));
  const after = await stream.next(({ kind, links }) => kind === "sample" && links.length === 0);

  expect(after).toMatchObject({ rxBytes: "700", txBytes: "700" });
  stream.close();
  agent.leave();
});

test("streams of a peer and of a network end when their subject is removed", async () => {
  const doomed = (await owner.post("/api/v1/networks", { name: "doomed" })).body;
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, doomed.id)).key });
  const { peerId } = await agent.next("welcome");
  const cookie = owner.cookie() ?? "";
  const ofPeer = await subscribe(server.url, cookie, { path: "live.peer", input: { peerId } });
  const ofNetwork = await subscribe(server.url, cookie, { path: "live.network", input: { networkId: doomed.id } });
  await Promise.all([ofPeer.next(isBeat), ofNetwork.next(({ kind }) => kind === "sample")]);

  await owner.call("DELETE", `/api/v1/peers/${peerId}`);
  await ofPeer.ended;
  await ofNetwork.next(({ kind }) => kind === "peer-removed");
  await owner.call("DELETE", `/api/v1/networks/${doomed.id}`);
  await ofNetwork.ended;

  expect((await owner.get(`/api/v1/peers/${peerId}`)).status).toBe(404);
});

test("CP-85 AP-64 counters of peers that do not exist are skipped, the rest is taken", async () => {
  const [agent, other] = await Promise.all([
    connectAgent(server.url, { joinKey }),
    connectAgent(server.url, { joinKey }),
  ]);
  const { peerId } = await agent.next("welcome");
  const { peerId: known } = await other.next("welcome");
  const stranger = "peer_0000000000000000000000000g" as PeerId;

  agent.send(counters(agent.identity, { uptimeMs: 1_000, links: [stranger, known], bytes: 5n }));

  await eventually("the total of the known peer alone", async () =>
    (await owner.get(`/api/v1/peers/${peerId}`)).body.rxBytes === "5" ? true : undefined,
  );
  for (const one of [agent, other]) one.leave();
});

test("B8 heartbeats and reports without traffic write nothing", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  await agent.until(() => true);
  await new Promise((done) => setTimeout(done, 200));
  await server.app.deps.database.isAlive();
  server.takeStatements();

  for (let beat = 1; beat <= 50; beat += 1) {
    agent.send({ kind: "ping", token: BigInt(beat) });
    agent.send(counters(agent.identity, { uptimeMs: beat * 1_000, links: [], bytes: 0n }));
  }
  await eventually("all pongs", () => agent.frames.find((frame) => frame.kind === "pong" && frame.token === 50n));

  expect(server.takeStatements().filter((text) => /update|insert|delete/i.test(text))).toEqual([]);
  agent.leave();
});

test("F-E6 CP-85 totals, sessions and maps survive a restart: nobody is logged out, current nodes resume", async () => {
  const first = await createTestApp();
  const setup = await setUp(first.url);
  const { key } = await makeKey(setup.owner, setup.network.id);
  const agent = await connectAgent(first.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  agent.send(counters(agent.identity, { uptimeMs: 1_000, links: [], bytes: 0n }));
  agent.send(counters(agent.identity, { uptimeMs: 2_000, links: [peerId], bytes: 777n }));
  await eventually("counters", async () =>
    (await setup.owner.get(`/api/v1/peers/${peerId}`)).body.rxBytes === "777" ? true : undefined,
  );

  const second = await first.restart();
  const bye = await agent.next("bye");
  const cookie = setup.owner.cookie() ?? "";
  const back = await fetch(`${second.url}/api/v1/peers/${peerId}`, { headers: { cookie } }).then(
    (answer): Promise<Json> => answer.json(),
  );
  const again = await connectAgent(second.url, { identity: agent.identity, lastMap: agent.version() });

  expect(bye).toMatchObject({ reason: "restart" });
  expect(bye.retryAfterMs).toBeGreaterThan(0);
  expect(back).toMatchObject({ id: peerId, rxBytes: "777", presence: "unknown" });
  expect((await again.next("welcome")).mode).toBe("resume");
  expect(again.challenge().serverKey).toBe(agent.challenge().serverKey);
  again.cut();
  await second.dispose();
});

function isBeat({ kind }: Json): boolean {
  return kind === "heartbeat";
}

function counters(
  identity: Identity,
  step: { readonly uptimeMs: number; readonly links: readonly PeerId[]; readonly bytes: bigint },
): AgentFrame {
  const rows = step.links.map(() => step.bytes);
  return {
    kind: "counters",
    counters: {
      counterEpoch: identity.counterEpoch,
      uptimeMs: step.uptimeMs,
      peers: {
        peerIds: step.links,
        rxBytes: rows,
        rxPackets: rows,
        txBytes: rows,
        txPackets: rows,
        drops: rows.length === 0 ? [] : [{ reason: "replay", counts: rows.map(() => 3n) }],
        lastHandshakeAgeMs: rows.map(() => 1_500),
        lastReceivedAgeMs: rows.map(() => 20),
        sessionAgeMs: rows.map(() => 1_500),
        endpoints: rows.map(() => null),
      },
      stages: [
        { shard: 0, stage: "seal", batches: 1n, packets: BigInt(step.uptimeMs / 100), bytes: 1n, nanoseconds: 1n },
      ],
      totals: [
        { name: "dropNoPeer", value: 4n },
        { name: "syscalls", value: 1n },
      ],
      cpuMicroseconds: BigInt(step.uptimeMs * 500),
      rssBytes: 1_000_000,
    },
  };
}
