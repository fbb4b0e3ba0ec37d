import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
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

test("F-C5 what a range shares addresses with is told before and after, and two ways to one range are not approved", async () => {
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
  expect(await approve(same.body.id)).toMatchObject({ status: 409, body: { code: "route_taken" } });
  expect(await approve(narrow.body.id)).toMatchObject({ status: 200, body: { state: "approved" } });
  const refused = [
    await add(one.id, network.ipv4Range),
    await add(one.id, "0.0.0.0/0"),
    await add(one.id, "127.0.0.0/8"),
    await add(one.id, "10.20.0.0/16"),
    await add(one.id, "10.20.0.1/16"),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 422, 409, 422]);

  await owner.call("DELETE", `/api/v1/peers/${one.id}`);
  const left = (await owner.get(`/api/v1/networks/${network.id}/routes?count=true`)).body;
  expect(left.total).toBe(2);
  expect(await approve(same.body.id)).toMatchObject({ status: 200 });
  two.agent.leave();
});
