import { randomBytes } from "node:crypto";
import { groupIds } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";
import { untilBlocked } from "../../testing/until-blocked.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let made = 0;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

/** A network of its own, without rules. */
async function emptyNetwork(): Promise<void> {
  made += 1;
  network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
}

async function makeGroup(name: string): Promise<Json> {
  const answer = await owner.post(`/api/v1/networks/${network.id}/groups`, { name });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function join(key: string): Promise<{ readonly agent: SimulatedAgent; readonly peerId: string }> {
  const agent = await connectAgent(server.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, peerId };
}

const namesIn = (agent: SimulatedAgent) => agent.map().peers.map(({ id }) => id);
const rule = (body: object) => owner.post(`/api/v1/networks/${network.id}/rules`, body);

test("F-A6 a group is made, found, renamed, filled, emptied and removed", async () => {
  await emptyNetwork();
  const servers = await makeGroup("servers");
  const { key } = await makeKey(owner, network.id);
  const { agent, peerId } = await join(key);

  const taken = await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "Servers" });
  const added = await owner.call("PUT", `/api/v1/groups/${servers.id}/peers/${peerId}`);
  const again = await owner.call("PUT", `/api/v1/groups/${servers.id}/peers/${peerId}`);
  const renamed = await owner.call("PATCH", `/api/v1/groups/${servers.id}`, { name: "web servers" });
  const listed = (await owner.get(`/api/v1/networks/${network.id}/groups?q=web&count=true`)).body;
  const members = (await owner.get(`/api/v1/networks/${network.id}/peers?groupId=${servers.id}&count=true`)).body;

  expect([taken.status, taken.body.code]).toEqual([409, "name_taken"]);
  expect([added.status, added.body.groupIds]).toEqual([200, [servers.id]]);
  expect(again.body.groupIds).toEqual([servers.id]);
  expect(renamed.body).toMatchObject({ name: "web servers", peerCount: 1 });
  expect(listed).toMatchObject({ total: 1, items: [{ id: servers.id, peerCount: 1 }] });
  expect(members).toMatchObject({ total: 1, items: [{ id: peerId }] });

  expect((await owner.call("DELETE", `/api/v1/groups/${servers.id}/peers/${peerId}`)).status).toBe(204);
  expect((await owner.get(`/api/v1/groups/${servers.id}`)).body.peerCount).toBe(0);
  expect((await owner.call("DELETE", `/api/v1/groups/${servers.id}`)).status).toBe(204);
  expect((await owner.get(`/api/v1/groups/${servers.id}`)).status).toBe(404);
  agent.leave();
});

test("F-A10 CP-ID5 a key puts its peers into its groups, and they are still there when the node comes back", async () => {
  await emptyNetwork();
  const [one, two] = [await makeGroup("one"), await makeGroup("two")];
  const { key } = await makeKey(owner, network.id, { groupIds: [two.id, one.id, two.id] });
  const { agent, peerId } = await join(key);
  agent.leave();

  const back = await connectAgent(server.url, { identity: agent.identity });
  expect((await back.next("welcome")).peerId).toBe(peerId);

  const { groupIds } = (await owner.get(`/api/v1/peers/${peerId}`)).body;
  expect(new Set(groupIds)).toEqual(new Set([one.id, two.id]));
  expect(groupIds).toHaveLength(2);
  back.leave();
});

test("groups of another network are refused for keys, peers and rules", async () => {
  await emptyNetwork();
  const { key } = await makeKey(owner, network.id);
  const { agent, peerId } = await join(key);
  const own = network;
  await emptyNetwork();
  const foreign = await makeGroup("foreign");

  const answers = [
    await owner.post(`/api/v1/networks/${own.id}/enrolment-keys`, { groupIds: [foreign.id] }),
    await owner.call("PATCH", `/api/v1/peers/${peerId}`, { groupIds: [foreign.id] }),
    await owner.call("PUT", `/api/v1/groups/${foreign.id}/peers/${peerId}`),
    await owner.post(`/api/v1/networks/${own.id}/rules`, { source: { kind: "group", id: foreign.id } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 422]);
  agent.leave();
});

test("CP-56 a group that a rule names is not removed, and the rule is named; without the rule it goes", async () => {
  await emptyNetwork();
  const used = await makeGroup("used");
  const { key } = await makeKey(owner, network.id, { groupIds: [used.id] });
  const { agent, peerId } = await join(key);
  const { id } = (await rule({ name: "web", source: { kind: "group", id: used.id } })).body;

  const refused = await owner.call("DELETE", `/api/v1/groups/${used.id}`);
  expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
  expect(refused.body.detail).toContain(id);

  await owner.call("DELETE", `/api/v1/rules/${id}`);
  expect((await owner.call("DELETE", `/api/v1/groups/${used.id}`)).status).toBe(204);
  expect((await owner.get(`/api/v1/peers/${peerId}`)).body.groupIds).toEqual([]);
  const [left] = (await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`)).body.items;
  expect(left.groupIds).toEqual([]);
  agent.leave();
});

test("AP-27 CP-11 F-B1 peers see whom a rule by group lets them see, follow changes of membership, and hide the rest", async () => {
  await emptyNetwork();
  const [clients, servers] = [await makeGroup("clients"), await makeGroup("servers")];
  const source = { kind: "group", id: clients.id };
  const destination = { kind: "group", id: servers.id };
  const web = await rule({
    source,
    destination,
    direction: "one-way",
    protocol: "tcp",
    ports: [{ low: 443, high: 443 }],
  });
  expect(web.body).toMatchObject({ kind: "selected", source, destination, direction: "one-way" });
  const keyOf = async (groupId: string) => (await makeKey(owner, network.id, { groupIds: [groupId] })).key;
  const client = await join(await keyOf(clients.id));
  const host = await join(await keyOf(servers.id));
  const stranger = await join((await makeKey(owner, network.id)).key);

  await client.agent.until(({ peers }) => peers.length === 1);
  expect(namesIn(client.agent)).toEqual([host.peerId]);
  const own = client.agent.map().self.ipv4;
  const inbound = await host.agent.until(({ peers, filter }) => peers.length === 1 && filter[0]?.source?.length === 2);
  expect(inbound.filter).toMatchObject([{ direction: "in", protocol: 6, destination: null }]);
  expect(inbound.filter[0]?.source).toContain(`${own}/32`);
  expect(namesIn(stranger.agent)).toEqual([]);
  expect(stranger.agent.map().filter).toEqual([]);

  await owner.call("PATCH", `/api/v1/peers/${stranger.peerId}`, { groupIds: [clients.id] });
  await stranger.agent.until(({ peers, filter }) => peers.length === 1 && filter.length === 1);
  await host.agent.until(({ peers, filter }) => peers.length === 2 && filter[0]?.source?.length === 4);
  expect(namesIn(client.agent)).toEqual([host.peerId]);

  await owner.call("PATCH", `/api/v1/peers/${stranger.peerId}`, { groupIds: [] });
  await stranger.agent.until(({ peers, filter }) => peers.length === 0 && filter.length === 0);
  await host.agent.until(({ peers, filter }) => peers.length === 1 && filter[0]?.source?.length === 2);
  for (const { agent } of [client, host, stranger]) agent.leave();
});

test("CP-3 a change of groups that no rule names reaches no agent at all", async () => {
  await emptyNetwork();
  await rule({});
  const idle = await makeGroup("idle");
  const { key } = await makeKey(owner, network.id);
  const [one, two] = [await join(key), await join(key)];
  await one.agent.until(({ peers }) => peers.length === 1);
  await two.agent.until(({ peers }) => peers.length === 1);
  const before = [one, two].map(({ agent }) => agent.version().sequence);

  await owner.call("PUT", `/api/v1/groups/${idle.id}/peers/${one.peerId}`);
  // What comes after it is seen, so what it had caused would have been seen, too.
  await owner.call("PATCH", `/api/v1/peers/${one.peerId}`, { name: "later" });
  await two.agent.until(({ peers }) => peers[0]?.name === "later");

  const deltas = two.agent.frames.filter((frame) => frame.kind === "delta" && frame.sequence > (before[1] ?? 0n));
  expect(deltas).toHaveLength(1);
  for (const { agent } of [one, two]) agent.leave();
});

test("CP-56 a removed peer takes the rules that name it along", async () => {
  await emptyNetwork();
  const { key } = await makeKey(owner, network.id);
  const [one, two] = [await join(key), await join(key)];
  await rule({ source: { kind: "peer", id: one.peerId }, destination: { kind: "peer", id: two.peerId } });
  await rule({ protocol: "icmp" });
  await two.agent.until(({ filter }) => filter.length === 3);

  await owner.call("DELETE", `/api/v1/peers/${one.peerId}`);

  await two.agent.until(({ filter }) => filter.length === 1);
  expect((await owner.get(`/api/v1/networks/${network.id}/rules`)).body.items).toHaveLength(1);
  two.agent.leave();
});

test("CP-56 a group that goes while a node joins with a key that names it leaves nothing behind", async () => {
  await emptyNetwork();
  const doomed = await makeGroup("doomed");
  const { key } = await makeKey(owner, network.id, { groupIds: [doomed.id] });
  const { sql, dispose } = server.database.connect();

  const joining = await sql.begin(async (tx) => {
    await tx`select 1 from networks where id = ${network.id} for update`;
    const agent = join(key);
    await untilBlocked({ sql });
    await tx`delete from groups where id = ${doomed.id}`;
    await tx`update enrolment_keys set group_ids = array_remove(group_ids, ${doomed.id})`;
    return { agent };
  });
  await dispose();
  const { agent, peerId } = await joining.agent;

  expect((await owner.get(`/api/v1/peers/${peerId}`)).body.groupIds).toEqual([]);
  expect((await owner.call("PATCH", `/api/v1/peers/${peerId}`, { name: "renamed" })).status).toBe(200);
  agent.leave();
});

test("SEC-55 a peer gets no more groups one by one than all at once", async () => {
  await emptyNetwork();
  const { agent, peerId } = await join((await makeKey(owner, network.id)).key);
  const rows = Array.from({ length: 101 }, (_, place) => ({
    id: groupIds.make(randomBytes),
    network_id: String(network.id),
    name: `g${place}`,
  }));
  const { sql, dispose } = server.database.connect();
  await sql`insert into groups ${sql(rows)}`;
  await dispose();
  const [last = "", ...ids] = rows.map(({ id }) => id);
  const path = `/api/v1/peers/${peerId}`;

  const all = await owner.call("PATCH", path, { groupIds: ids });
  const one = await owner.call("PUT", `/api/v1/groups/${last}/peers/${peerId}`);

  expect(all.status).toBe(200);
  expect(one.body).toMatchObject({ status: 400, code: "invalid_input" });
  expect((await owner.get(path)).body.groupIds).toHaveLength(100);
  agent.leave();
});
