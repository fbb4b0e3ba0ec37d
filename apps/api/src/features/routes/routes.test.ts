import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, eventually } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

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

async function join(): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id: peerId };
}

const add = (peerId: string, prefix: string) => owner.post(`/api/v1/peers/${peerId}/routes`, { prefix });
const approve = (id: string) => owner.post(`/api/v1/routes/${id}/approve`);

test("F-C1 F-C2 CP-9 a range behind a peer is used only once it is approved, and only by who may reach the peer", async () => {
  await emptyNetwork();
  const [router, friend, stranger] = [await join(), await join(), await join()];
  const source = { kind: "peer", id: friend.id };
  const destination = { kind: "peer", id: router.id };
  await owner.post(`/api/v1/networks/${network.id}/rules`, { source, destination, direction: "one-way" });
  await friend.agent.until(({ peers }) => peers.length === 1);

  const made = await add(router.id, "192.168.44.0/24");
  await owner.call("PATCH", `/api/v1/peers/${router.id}`, { name: "router" });
  const before = await friend.agent.until(({ peers }) => peers[0]?.name === "router");
  expect(made).toMatchObject({ status: 201, body: { state: "pending", conflicts: [] } });
  expect(before.peers[0]?.routes).toEqual([]);

  expect((await approve(made.body.id)).body.state).toBe("approved");
  const map = await friend.agent.until(
    ({ peers, filter }) => peers[0]?.routes.length === 1 && filter[0]?.destination?.length === 3,
  );
  expect(map.peers[0]?.routes).toEqual(["192.168.44.0/24"]);
  expect(map.filter).toMatchObject([{ direction: "out" }]);
  expect(map.filter[0]?.destination).toContain("192.168.44.0/24");
  expect(stranger.agent.map().peers).toEqual([]);

  await owner.call("DELETE", `/api/v1/routes/${made.body.id}`);
  await friend.agent.until(
    ({ peers, filter }) => peers[0]?.routes.length === 0 && filter[0]?.destination?.length === 2,
  );
  expect((await approve(made.body.id)).status).toBe(404);
  for (const { agent } of [router, friend, stranger]) agent.leave();
});

test("F-C5 what a range shares addresses with is told before and after, and of two ways to one range one is used", async () => {
  await emptyNetwork();
  const [one, two] = [await join(), await join()];
  const wide = (await add(one.id, "10.20.0.0/16")).body;
  await approve(wide.id);
  const conflictsOf = async (prefix: string) =>
    (await owner.get(`/api/v1/networks/${network.id}/routes/conflicts?prefix=${encodeURIComponent(prefix)}`)).body
      .conflicts;

  const narrow = await add(two.id, "10.20.30.0/24");
  const same = await add(two.id, "10.20.0.0/16");

  expect(narrow.body.conflicts).toMatchObject([{ kind: "wider", routeId: wide.id }]);
  expect(await conflictsOf("10.0.0.0/8")).toMatchObject([
    { kind: "narrower" },
    { kind: "narrower" },
    { kind: "narrower" },
  ]);
  expect(await conflictsOf(network.ipv4Range)).toMatchObject([{ kind: "network", routeId: null }]);
  expect(await conflictsOf("172.16.0.0/12")).toEqual([]);
  expect(same.body.conflicts).toContainEqual(expect.objectContaining({ kind: "same", routeId: wide.id }));
  // Two ways to one range stand in for each other: one is used, the other waits.
  expect(await approve(same.body.id)).toMatchObject({ status: 200, body: { state: "approved", active: false } });
  expect(await approve(narrow.body.id)).toMatchObject({ status: 200, body: { state: "approved" } });
  const refused = [
    await add(one.id, network.ipv4Range),
    await add(one.id, "127.0.0.0/8"),
    await add(one.id, "10.20.0.0/16"),
    await add(one.id, "10.20.0.1/16"),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 409, 422]);

  await owner.call("DELETE", `/api/v1/peers/${one.id}`);
  const left = (await owner.get(`/api/v1/networks/${network.id}/routes?count=true`)).body;
  expect(left.total).toBe(2);
  // The peer of the way in use is gone, so the other one is used now.
  const shown = left.items.find(({ id }: Json) => id === same.body.id);
  expect(shown).toMatchObject({ state: "approved", active: true });
  two.agent.leave();
});

test("F-C2 an approver lets routes of its group into its range at once, and no others", async () => {
  await emptyNetwork();
  const [inside, outside] = [await join(), await join()];
  const group = (await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "routers" })).body;
  await owner.call("PATCH", `/api/v1/peers/${inside.id}`, { groupIds: [group.id] });
  const approvers = `/api/v1/networks/${network.id}/route-approvers`;

  const made = await owner.post(approvers, { groupId: group.id, prefix: "10.60.0.0/16" });
  const again = await owner.post(approvers, { groupId: group.id, prefix: "10.60.0.0/16" });
  const listed = (await owner.get(`${approvers}?count=true`)).body;

  expect(made).toMatchObject({ status: 201, body: { groupId: group.id, prefix: "10.60.0.0/16" } });
  expect(again).toMatchObject({ status: 409, body: { code: "approver_exists" } });
  expect(listed).toMatchObject({ total: 1, items: [{ id: made.body.id }] });
  const states = async (peerId: string, ...prefixes: string[]) => {
    const answers = [];
    for (const prefix of prefixes) answers.push((await add(peerId, prefix)).body);
    return answers.map(({ state, active }) => `${state} ${active ? "used" : "unused"}`);
  };
  expect(await states(inside.id, "10.60.7.0/24", "10.61.0.0/16", "10.0.0.0/8", "0.0.0.0/0")).toEqual([
    "approved used",
    "pending unused",
    "pending unused",
    "pending unused",
  ]);
  expect(await states(outside.id, "10.60.8.0/24")).toEqual(["pending unused"]);
  expect((await owner.call("DELETE", `/api/v1/route-approvers/${made.body.id}`)).status).toBe(204);
  expect(await states(inside.id, "10.60.9.0/24")).toEqual(["pending unused"]);
  for (const { agent } of [inside, outside]) agent.leave();
});

test("F-C3 CP-3 AP-27 an exit node must be approved, and only the peer that chose it is told that everything lies behind it", async () => {
  await emptyNetwork();
  const [exit, traveller, neighbour] = [await join(), await join(), await join()];
  const all = { kind: "all" };
  await owner.post(`/api/v1/networks/${network.id}/rules`, { source: all, destination: all, direction: "both-ways" });
  await traveller.agent.until(({ peers }) => peers.length === 2);
  const choose = (exitPeerId: string | null, lost = "blocked") =>
    owner.post(`/api/v1/peers/${traveller.id}/exit-node`, { exitPeerId, lost });
  const everything = (await add(exit.id, "0.0.0.0/0")).body;
  expect(everything).toMatchObject({ kind: "exit", state: "pending", conflicts: [] });
  expect(await choose(exit.id)).toMatchObject({ status: 409, body: { code: "exit_unapproved" } });

  await approve(everything.id);
  const chosen = await choose(exit.id);

  expect(chosen).toMatchObject({ status: 200, body: { exit: { peerId: exit.id, lan: "reachable", lost: "blocked" } } });
  const map = await traveller.agent.until(({ self }) => self.exit !== undefined);
  const known = await traveller.agent.until(({ peers }) => peers.some(({ routes }) => routes.length > 0));
  expect(map.self.exit).toEqual({ peerId: exit.id, lan: "reachable", lost: "blocked" });
  expect(known.peers.flatMap(({ id, routes }) => routes.map((route) => [id, route]))).toEqual([[exit.id, "0.0.0.0/0"]]);
  const served = await exit.agent.until(({ self }) => self.serves !== undefined);
  expect(served.self.serves).toEqual([{ prefix: "0.0.0.0/0", masquerade: "on" }]);
  // The last rule is about what leaves the network, and says nothing of the network's own addresses.
  const outside = known.filter.at(-1);
  expect(outside).toMatchObject({ action: "allow", direction: "out", source: null });
  expect(outside?.destination).toContain("0.0.0.0/2");
  expect(outside?.destination).not.toContain(network.ipv4Range);
  expect(neighbour.agent.map().peers.flatMap(({ routes }) => routes)).toEqual([]);
  expect(neighbour.agent.map().filter).toHaveLength(1);

  await owner.call("DELETE", `/api/v1/peers/${exit.id}`);
  const alone = await traveller.agent.until(({ peers }) => peers.length === 1);
  expect(alone.self.exit).toMatchObject({ peerId: exit.id, lost: "blocked" });
  expect((await choose(null)).body.exit).toBeNull();
  await traveller.agent.until(({ self, filter }) => self.exit === undefined && filter.length === 1);
  for (const { agent } of [traveller, neighbour]) agent.leave();
});

test("F-C4 CP-71 ND-13 another router takes over when the one in use is gone, and keeps the range when it comes back", async () => {
  await emptyNetwork();
  const [one, two, friend] = [await join(), await join(), await join()];
  const all = { kind: "all" };
  await owner.post(`/api/v1/networks/${network.id}/rules`, { source: all, destination: all, direction: "both-ways" });
  const routes: Json[] = [];
  for (const { id } of [one, two]) routes.push((await add(id, "192.168.90.0/24")).body);
  for (const { id } of routes) await approve(id);
  const leadsTo = (id: string) => (map: Parameters<Parameters<SimulatedAgent["until"]>[0]>[0]) =>
    map.peers.filter((peer) => peer.routes.length > 0).every((peer) => peer.id === id) &&
    map.peers.some((peer) => peer.routes.length > 0);
  await friend.agent.until(leadsTo(one.id));

  one.agent.leave();
  await friend.agent.until(leadsTo(two.id));
  const back = await connectAgent(server.url, { identity: one.agent.identity });
  await back.until(() => true);

  const listed = await eventually("the first router online", async () => {
    const { items } = (await owner.get(`/api/v1/networks/${network.id}/routes`)).body;
    return items.every(({ router }: Json) => router === "online") ? items : undefined;
  });
  expect(listed.filter(({ active }: Json) => active).map(({ peerId }: Json) => peerId)).toEqual([two.id]);
  const preferred = await owner.call("PATCH", `/api/v1/routes/${routes[1]?.id}`, { priority: 10, masquerade: false });
  expect(preferred.body).toMatchObject({ priority: 10, masquerade: false, active: true });
  const events = (await owner.get("/api/v1/audit-events?action=routes.takeOver")).body.items;
  expect(events[0]).toMatchObject({ actor: { kind: "server" }, objectId: routes[1]?.id });
  back.leave();
  for (const { agent } of [two, friend]) agent.leave();
});

test("F-C4 CP-71 a router that goes silent, or whose host cannot forward, gives the range to one that can", async () => {
  await emptyNetwork();
  const [one, two, friend] = [await join(), await join(), await join()];
  const all = { kind: "all" };
  await owner.post(`/api/v1/networks/${network.id}/rules`, { source: all, destination: all, direction: "both-ways" });
  for (const { id } of [one, two]) await approve((await add(id, "192.168.91.0/24")).body.id);
  const router = () => friend.agent.map().peers.flatMap(({ id, routes }) => (routes.length > 0 ? [id] : []));
  const leadsTo = (id: string) => eventually(`the way through ${id}`, () => router().join() === id || undefined);
  await leadsTo(one.id);
  const tell = (agent: SimulatedAgent, forwarding: "works" | "fails") => {
    const rest = { interfaceName: "weft0", listenPort: 1, shards: 1, endpoints: [], offloads: [], problems: [] };
    agent.send({ kind: "status", status: { ...rest, wallClockMs: 0, clockSkewMs: null, forwarding } });
  };

  tell(one.agent, "fails");
  await leadsTo(two.id);
  tell(one.agent, "works");
  // The connection stands, and nobody answers on it.
  two.agent.socket.pause();
  await leadsTo(one.id);
  two.agent.socket.resume();
  for (const { agent } of [one, two, friend]) agent.leave();
}, 30_000);

test("ND-15 an exit node that is disabled or loses its approval is named as the reason, with what it means for whom", async () => {
  await emptyNetwork();
  const [exit, user] = [await join(), await join()];
  const route = (await add(exit.id, "0.0.0.0/0")).body;
  await approve(route.id);
  await owner.call("PATCH", `/api/v1/peers/${exit.id}`, { name: "gate" });
  await owner.post(`/api/v1/peers/${user.id}/exit-node`, { exitPeerId: exit.id });
  const problems = async () => (await owner.get(`/api/v1/peers/${user.id}`)).body.problems.join();
  const says = (part: string) => eventually(part, async () => (await problems()).includes(part) || undefined);
  await eventually("no problem", async () => (await problems()) === "" || undefined);

  await owner.post(`/api/v1/peers/${exit.id}/disable`);
  await says("the chosen exit node gate is disabled, so all its other traffic is blocked");
  await owner.post(`/api/v1/peers/${exit.id}/enable`);
  await eventually("no problem again", async () => (await problems()) === "" || undefined);
  await owner.call("DELETE", `/api/v1/routes/${route.id}`);
  await says("gate is no approved exit node any more");
  await owner.call("DELETE", `/api/v1/peers/${exit.id}`);
  await says("the chosen exit node was removed");
  await owner.post(`/api/v1/peers/${user.id}/exit-node`, { exitPeerId: null });
  await eventually("no problem at last", async () => (await problems()) === "" || undefined);
  user.agent.leave();
});
