import { CAPABILITY, decodeDeltaBody } from "@weft/protocol";
import type { NetworkMap, ServerFrame } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockNetwork, publishChanges } from "../db/networks-repository.ts";
import { deletePeer, findPeer } from "../db/peers-repository.ts";
import { allRules, deleteRules } from "../db/rules-repository.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
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

test("AP-27 snapshot and deltas together equal a fresh map after any mix of changes, on every node", async () => {
  const agents = await Promise.all(
    Array.from({ length: 12 }, (_, at) => connectAgent(server.url, { joinKey, ...(at % 3 > 0 && TAKES_CHANGES) })),
  );
  const groups = await Promise.all(["red", "green"].map((name) => newGroup(network.id, name)));
  const ids = await Promise.all(agents.map(async (agent) => (await agent.next("welcome")).peerId));
  let seed = 12_345;
  const pick = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    // The low digits of such a sequence repeat after a few steps.
    return (seed >>> 12) % limit;
  };
  const joiners: SimulatedAgent[] = [];
  for (let step = 0; step < 60; step += 1) {
    const id = ids[pick(ids.length)];
    const rules = (await owner.get(`/api/v1/networks/${network.id}/rules`)).body.items;
    const choice = pick(8);
    if (choice === 0) await owner.call("PATCH", `/api/v1/peers/${id}`, { name: `name-${step}` });
    if (choice === 1 && rules.length > 0) await owner.call("DELETE", `/api/v1/rules/${rules[0].id}`);
    if (choice === 2 && rules.length === 0)
      await owner.post(`/api/v1/networks/${network.id}/rules`, { kind: "all-to-all" });
    if (choice === 3) joiners.push(await connectAgent(server.url, { joinKey }));
    if (choice === 5) {
      const [source, destination] = [pick(2), pick(2)].map((at) => ({ kind: "group", id: groups[at] }));
      await owner.post(`/api/v1/networks/${network.id}/rules`, { source, destination, protocol: "tcp" });
    }
    if (choice > 5)
      await owner.call("PATCH", `/api/v1/peers/${id}`, { groupIds: groups.filter((_, at) => (step >> at) % 2 === 0) });
    if (choice === 4) await owner.call("PATCH", `/api/v1/networks/${network.id}`, { name: `office-${step}` }, ANY);
    if (step % 13 === 12) await owner.call("DELETE", `/api/v1/peers/${ids.pop()}`);
  }

  // Whoever connected may still be joining, which changes the maps of the others.
  for (const joiner of joiners) await joiner.until(() => true);
  await owner.post(`/api/v1/networks/${network.id}/rules`, { kind: "all-to-all" });
  const { network: final } = await finalState();
  const alive = agents.slice(0, ids.length);
  for (const agent of alive) await eventually("the last sequence", () => isCurrent(agent, final.name));
  await settled([...alive, ...joiners]);
  for (const agent of alive) {
    const asDelivered = agent.map();
    const wholeMaps = wholeMapsOf(agent);
    // Asking for the map again gives it whole, from the same connection and for the same node.
    agent.send({ kind: "needMap", reason: "gap" });
    const fresh = await agent.until(() => wholeMapsOf(agent) > wholeMaps);
    expect(byId(asDelivered)).toEqual(byId(fresh));
  }
  expect(alive.some((agent) => deltasOf(agent).some(changesSets))).toBe(true);
  for (const agent of [...agents, ...joiners]) agent.cut();
});

test("B1 AP-25 who joins a group costs every member less than 1 kB, and who does not know of changes gets the whole filter", async () => {
  const { body: place } = await owner.post("/api/v1/networks", { name: "large-group" });
  const group = await newGroup(place.id, "staff");
  const { key } = await makeKey(owner, place.id, { groupIds: [group] });
  const staff = { kind: "group", id: group };
  await owner.post(`/api/v1/networks/${place.id}/rules`, { source: staff, destination: staff, protocol: "tcp" });
  const members = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      connectAgent(server.url, { joinKey: key, ...(at > 0 ? TAKES_CHANGES : { capabilities: [] }) }),
    ),
  );
  await Promise.all(members.map((agent) => agent.until(({ peers }) => peers.length === members.length - 1)));
  await settled(members);
  const before = members.map((agent) => ({ bytes: agent.receivedBytes(), deltas: deltasOf(agent).length }));

  const newcomer = await connectAgent(server.url, { joinKey: key, ...TAKES_CHANGES });
  await Promise.all(members.map((agent) => agent.until(({ peers }) => peers.length === members.length)));
  await newcomer.until(({ peers }) => peers.length === members.length);
  await settled([...members, newcomer]);

  const { ipv4 } = newcomer.map().self;
  for (const [at, agent] of members.entries()) {
    const bytes = agent.receivedBytes() - (before[at]?.bytes ?? 0);
    const news = deltasOf(agent).slice(before[at]?.deltas);
    expect(news.map(changesSets)).toEqual(news.map(() => at > 0));
    expect(bytes < 1_000).toBe(at > 0);
    const [rule] = agent.map().filter;
    expect(rule?.source ?? rule?.destination).toContain(`${ipv4}/32`);
  }
  for (const agent of [...members, newcomer]) agent.cut();
});

function changesSets({ body }: Extract<ServerFrame, { readonly kind: "delta" }>): boolean {
  const delta = decodeDeltaBody(body);
  if (!delta.ok) throw new Error(JSON.stringify(delta.error));
  return delta.value.filterSets !== undefined;
}

async function newGroup(networkId: string, name: string): Promise<string> {
  return (await owner.post(`/api/v1/networks/${networkId}/groups`, { name })).body.id;
}

async function finalState() {
  // One last change that reaches every node tells when all earlier ones did.
  const name = "the-end";
  const answer = await owner.call("PATCH", `/api/v1/networks/${network.id}`, { name }, ANY);
  return { network: answer.body };
}

function isCurrent(agent: SimulatedAgent, name: string): true | undefined {
  return agent.map().self.networkName === name ? true : undefined;
}

function byId(map: NetworkMap): NetworkMap {
  return { ...map, peers: map.peers.toSorted((left, right) => (left.id < right.id ? -1 : 1)) };
}

test("AP-27 a peer removed at one moment with the rules that showed it leaves the maps of those who had it", async () => {
  const { body: place } = await owner.post("/api/v1/networks", { name: "at-once" });
  const { key } = await makeKey(owner, place.id);
  const [stays, goes] = await Promise.all([0, 1].map(() => connectAgent(server.url, { joinKey: key })));
  const goesId = (await goes!.next("welcome")).peerId;
  await owner.post(`/api/v1/networks/${place.id}/rules`, { kind: "all-to-all" });
  await stays!.until(({ peers }) => peers.some(({ id }) => id === goesId));

  const { db, dispose } = server.database.connect();
  await db.transaction(async (tx) => {
    const network = await lockNetwork(tx, place.id);
    const peer = await findPeer(tx, goesId);
    if (!network || !peer) throw new Error("both exist");
    await deleteRules(
      tx,
      (await allRules(tx, network.id)).map(({ id }) => id),
    );
    await deletePeer(tx, peer, new Date());
    const changes = [{ kind: "rules" }, { kind: "peer", peerId: peer.id }] as const;
    await publishChanges(tx, network.id, { changes, at: new Date() });
  });
  await dispose();

  await stays!.until(({ peers }) => peers.length === 0);
  for (const agent of [stays, goes]) agent!.cut();
});

test("D2 CP-3 AP-24 a change reaches every affected node once, with the same bytes, and nobody else", async () => {
  const other = await owner.post("/api/v1/networks", { name: "elsewhere" });
  const stranger = await connectAgent(server.url, { joinKey: (await makeKey(owner, other.body.id)).key });
  const agents = await Promise.all(Array.from({ length: 5 }, () => connectAgent(server.url, { joinKey })));
  const ids = await Promise.all(agents.map(async (agent) => (await agent.next("welcome")).peerId));
  await Promise.all([stranger, ...agents].map((agent) => agent.until(() => true)));
  await settled(agents);
  const before = [stranger, ...agents].map(deltasOf).map(({ length }) => length);
  const bytesBefore = agents.map((agent) => agent.receivedBytes());

  await owner.call("PATCH", `/api/v1/peers/${ids[0]}`, { name: "changed-once" });
  await Promise.all(
    agents.slice(1).map((agent) => agent.until(({ peers }) => peers.some(({ name }) => name === "changed-once"))),
  );
  await settled(agents);

  const added = [stranger, ...agents].map((agent, place) => deltasOf(agent).slice(before[place]));
  expect(added.map(({ length }) => length)).toEqual([0, 1, 1, 1, 1, 1]);
  const signatures = new Set(added.slice(2).map(([frame]) => Buffer.from(frame?.signature ?? []).toString("hex")));
  expect(signatures.size).toBe(1);
  for (const [place, agent] of agents.entries())
    expect(agent.receivedBytes() - (bytesBefore[place] ?? 0)).toBeLessThan(1_000);
  for (const agent of [stranger, ...agents]) agent.cut();
});

test("AP-22 a node that reads slowly gets the newest state, not every step of it", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const watcher = await connectAgent(server.url, { joinKey });
  await watcher.until(({ peers }) => peers.some(({ id }) => id === peerId));
  await settled([watcher]);
  const before = deltasOf(watcher).length;

  for (let step = 0; step < 30; step += 1)
    await owner.call("PATCH", `/api/v1/peers/${peerId}`, { name: `step-${step}` });
  await watcher.until(({ peers }) => peers.some(({ name }) => name === "step-29"));

  expect(deltasOf(watcher).length - before).toBeLessThan(30);
  agent.cut();
  watcher.cut();
});

function wholeMapsOf(agent: SimulatedAgent): number {
  return agent.frames.filter((frame) => frame.kind === "mapEnd").length;
}

function deltasOf(agent: SimulatedAgent) {
  return agent.frames.filter((frame) => frame.kind === "delta");
}

/** Waits until every node confirmed what it was sent and nothing is on the way. */
async function settled(agents: readonly SimulatedAgent[]): Promise<void> {
  await Promise.all(
    agents.map(async (agent) => {
      const id = agent.map().self.peerId;
      await eventually("applied", async () =>
        (await owner.get(`/api/v1/peers/${id}`)).body.map.state === "applied" ? true : undefined,
      );
    }),
  );
}

const TAKES_CHANGES = { capabilities: [CAPABILITY.filterSetChanges] };
/** Changes a network whatever its version is. */
const ANY = { "if-match": "*" };
