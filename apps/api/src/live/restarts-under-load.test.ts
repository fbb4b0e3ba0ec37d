import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { joinFleet } from "../testing/fleet.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually, makeIdentity } from "../testing/simulated-agent.ts";
import type { Identity, SimulatedAgent } from "../testing/simulated-agent.ts";

const COUNT = 40;

test("CP-26 a restart while nodes join, are renamed and report loses none that was welcomed, and none is counted twice", async () => {
  const first = await createTestApp();
  const { owner, network } = await setUp(first.url);
  const { key } = await makeKey(owner, network.id);
  const identities = Array.from({ length: COUNT }, makeIdentity);
  const welcomed = new Map<string, string>();
  const joining = Promise.all(
    identities.map(async (identity, at) => {
      await new Promise((done) => setTimeout(done, at * 20));
      const agent = await connectAgent(first.url, { joinKey: key, identity }).catch(() => undefined);
      const welcome = agent?.frames.find((frame) => frame.kind === "welcome");
      if (welcome) welcomed.set(identity.identityKey, welcome.peerId);
    }),
  );
  await eventually("some nodes", () => welcomed.size > COUNT / 4 || undefined, 60_000);
  const [renamed = ""] = welcomed.values();
  const renaming = owner
    .call("PATCH", `/api/v1/peers/${renamed}`, { name: "renamed-meanwhile" })
    .catch(() => undefined);

  const second = await first.restart();
  await Promise.all([joining, renaming]);
  const before = new Map(welcomed);
  const again = createRestClient(second.url, { cookie: owner.cookie() ?? "" });
  const listed = await allPeers(again, network.id);
  const back = await Promise.all(identities.map((identity) => connectAgent(second.url, { joinKey: key, identity })));
  for (const agent of back) await agent.until(({ peers }) => peers.length === COUNT - 1);
  const afterwards = await allPeers(again, network.id);

  expect(before.size).toBeLessThan(COUNT);
  expect(listed.items.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([...before.values()]));
  expect(listed.total).toBe(listed.items.length);
  expect([afterwards.total, new Set(afterwards.items.map(({ ipv4 }: Json) => ipv4)).size]).toEqual([COUNT, COUNT]);
  for (const agent of back) {
    const known = before.get(agent.identity.identityKey);
    if (known !== undefined) expect(agent.map().self.peerId).toBe(known);
  }
  for (const agent of back) agent.cut();
  await second.dispose();
}, 180_000);

test("CP-33 AP-43 SC-7 a deploy tells every node when to come back, leaves no dead stream, and lets a crowd in step by step", async () => {
  let lagMs = 0;
  const first = await createTestApp({ lagMs: () => lagMs });
  const { owner, network, joined } = await fleetOf(first, COUNT);
  const second = await first.restart();
  for (const agent of joined) {
    expect(await agent.next("bye")).toMatchObject({ reason: "restart", retryAfterMs: 5_000 });
    await eventually("the end of the stream", () => agent.isClosed() || undefined);
  }
  lagMs = 150;
  const crowd = joined.map(({ identity }) => ({ identity, waits: [] as number[] }));

  const coming = Promise.all(crowd.map((node) => insist(second.url, node)));
  await eventually("some that were sent away", () => crowd.some(({ waits }) => waits.length > 0) || undefined, 60_000);
  lagMs = 0;
  const back = await coming;

  expect(new Set(crowd.flatMap(({ waits }) => waits)).size).toBeGreaterThan(1);
  expect(Math.min(...crowd.flatMap(({ waits }) => waits))).toBeGreaterThanOrEqual(1);
  const metrics = await second.app.metrics();
  expect(metrics).toContain(`weft_agent_streams{network="office",network_id="${network.id}"} ${COUNT}\n`);
  expect(back.flatMap(({ frames }) => frames.filter(({ kind }) => kind === "bye"))).toEqual([]);
  const again = createRestClient(second.url, { cookie: owner.cookie() ?? "" });
  expect((await allPeers(again, network.id)).items.map(({ presence }: Json) => presence)).not.toContain("offline");
  for (const agent of back) agent.cut();
  await second.dispose();
}, 180_000);

test("CP-34 B3 SC-4 nodes that return change nothing: no new version of the map, no word to the others, writes by the number of nodes", async () => {
  const first = await createTestApp();
  const { owner, network, joined } = await fleetOf(first, COUNT);
  const versions = joined.map((agent) => agent.version());
  const second = await first.restart();
  second.takeStatements();

  const back = await Promise.all(
    joined.map(({ identity }, at) => connectAgent(second.url, { identity, lastMap: versions[at] ?? null })),
  );
  const again = createRestClient(second.url, { cookie: owner.cookie() ?? "" });
  await eventually("everybody online", async () => {
    const { items } = await allPeers(again, network.id);
    return items.every(({ presence }: Json) => presence === "online") || undefined;
  });

  const told = back.map(({ frames }) => frames.map(({ kind }) => kind).filter((kind) => kind !== "ping"));
  expect(told).toEqual(back.map(() => ["challenge", "welcome"]));
  expect(back.map(({ frames }) => frames.find(({ kind }) => kind === "welcome"))).toMatchObject(
    back.map(() => ({ mode: "resume" })),
  );
  const writes = second.takeStatements().filter((text) => /^\s*(insert|update|delete)/i.test(text));
  expect(writes.length).toBeLessThanOrEqual(2 * COUNT);
  expect(writes.filter((text) => text.includes("network_changes"))).toEqual([]);
  for (const agent of back) agent.cut();
  await second.dispose();
}, 180_000);

test("SC-6 CP-36 120 nodes at once hear of sixty changes in a row, and one that reads nothing meanwhile ends with the newest state", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const { key } = await makeKey(owner, network.id);
  const agents = await joinFleet(server.url, key, 120);
  const [slow, subject] = agents;
  if (!slow || !subject) throw new Error("120 nodes");
  const { peerId } = await subject.next("welcome");
  await Promise.all(agents.map((agent) => agent.until(({ peers }) => peers.length === agents.length - 1)));
  slow.socket.pause();

  for (let step = 1; step <= 60; step += 1)
    await owner.call("PATCH", `/api/v1/peers/${peerId}`, { name: `step-${step}` });
  const isNewest = ({ peers }: { readonly peers: readonly { readonly name: string }[] }) =>
    peers.some(({ name }) => name === "step-60");
  const others = agents.filter((agent) => agent !== slow && agent !== subject);
  await Promise.all(others.map((agent) => agent.until(isNewest)));
  expect(isNewest(slow.map())).toBe(false);
  slow.socket.resume();
  await slow.until(isNewest);

  expect((await allPeers(owner, network.id)).total).toBe(120);
  expect(agents.filter((agent) => agent.isClosed())).toEqual([]);
  for (const agent of agents) agent.cut();
  await server.dispose();
}, 240_000);

async function fleetOf(server: TestApp, count: number) {
  const { owner, network } = await setUp(server.url);
  const { key } = await makeKey(owner, network.id);
  const joined = await joinFleet(server.url, key, count);
  await Promise.all(joined.map((agent) => agent.until(({ peers }) => peers.length === count - 1)));
  return { owner, network, joined };
}

async function allPeers(client: RestClient, networkId: string): Promise<Json> {
  return (await client.get(`/api/v1/networks/${networkId}/peers?limit=500&count=true`)).body;
}

/** Comes again as late as the server asks. */
async function insist(
  url: string,
  node: { readonly identity: Identity; readonly waits: number[] },
): Promise<SimulatedAgent> {
  for (;;) {
    const waitSeconds = await knock(url);
    if (waitSeconds === undefined) return connectAgent(url, { identity: node.identity });
    node.waits.push(waitSeconds);
    await new Promise((done) => setTimeout(done, waitSeconds * 1_000));
  }
}

/** Seconds that the server asks a node to wait; nothing when it lets it in. */
function knock(url: string): Promise<number | undefined> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/agent/v1?nonce=none`);
  return new Promise((done, fail) => {
    socket.on("error", fail);
    socket.on("open", () => {
      socket.terminate();
      done(undefined);
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      done(Number(response.headers["retry-after"]));
    });
  });
}
