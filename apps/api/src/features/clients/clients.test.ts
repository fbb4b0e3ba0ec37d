import { randomBytes } from "node:crypto";
import { parseEndpoint } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { tokenOf } from "../../testing/people.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, eventually } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

const parsed = parseEndpoint("192.0.2.7:51820");
if (!parsed.ok) throw new Error("the endpoint is written wrongly here");
const ENDPOINT = parsed.value;

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

/** A node with an endpoint. */
async function gatewayNode(): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const node = await join();
  const status = { interfaceName: "weft0", listenPort: 51_820, shards: 1, endpoints: [ENDPOINT], offloads: [] };
  const rest = { wallClockMs: Date.now(), clockSkewMs: null, forwarding: null, problems: [] };
  node.agent.send({ kind: "status", status: { ...status, ...rest } });
  await eventually("its endpoint is stored", async () =>
    (await owner.get(`/api/v1/peers/${node.id}`)).body.endpoints.length > 0 ? true : undefined,
  );
  return node;
}

const aKey = () => {
  const bytes = randomBytes(32);
  bytes[31] = (bytes[31] ?? 0) & 0x3f;
  return bytes.toString("base64");
};
const add = (gatewayPeerId: string, change: object = {}) =>
  owner.post(`/api/v1/networks/${network.id}/clients`, {
    name: `phone-${randomBytes(4).toString("hex")}`,
    publicKey: aKey(),
    gatewayPeerId,
    ...change,
  });
const allow = (source: object, destination: object, direction = "one-way") =>
  owner.post(`/api/v1/networks/${network.id}/rules`, { source, destination, direction });
const peer = (id: string) => ({ kind: "peer", id });

test("F-A16 only its gateway gets a tunnel to a static client; who may reach it learns the gateway, nobody else learns anything", async () => {
  await emptyNetwork();
  const [gateway, friend, stranger] = [await gatewayNode(), await join(), await join()];
  const created = await add(gateway.id, { name: "phone" });
  expect(created).toMatchObject({
    status: 201,
    body: { kind: "client", gatewayPeerId: gateway.id, state: "active", presence: "unknown" },
  });
  const client = created.body;
  expect([client.ipv4, client.ipv6].every((address) => typeof address === "string")).toBe(true);

  // The gateway needs the key before any rule speaks of the client; it lets nothing of it pass.
  const alone = await gateway.agent.until(({ peers }) => peers.length === 1);
  expect(alone.peers[0]).toMatchObject({
    id: client.id,
    gateway: gateway.id,
    publicKey: client.publicKey,
    endpoints: [],
  });
  expect(alone.peers[0]?.profile).toBeUndefined();
  expect(alone.filter.map(({ action }) => action)).toEqual(["deny", "deny"]);

  await allow(peer(client.id), peer(friend.id));
  const seen = await friend.agent.until(({ peers }) => peers.length === 2);
  expect(seen.peers.find(({ id }) => id === client.id)?.gateway).toBe(gateway.id);
  expect(seen.peers.find(({ id }) => id === gateway.id)?.endpoints).toEqual(["192.0.2.7:51820"]);
  const carrying = await gateway.agent.until(({ peers, filter }) => peers.length === 2 && filter.length > 2);
  expect(carrying.filter[0]).toMatchObject({ action: "allow", direction: "both" });
  expect(carrying.filter[0]?.source).toEqual([`${client.ipv4}/32`, `${client.ipv6}/128`]);
  expect(carrying.filter[0]?.destination).not.toBeNull();
  expect(stranger.agent.map().peers).toEqual([]);

  await owner.post(`/api/v1/peers/${client.id}/disable`);
  await friend.agent.until(({ peers }) => peers.length === 0);
  const without = await gateway.agent.until(({ peers }) => peers.length === 0);
  expect(without.filter).toEqual([]);
  await owner.post(`/api/v1/peers/${client.id}/enable`);
  await friend.agent.until(({ peers }) => peers.length === 2);

  const other = await gatewayNode();
  await owner.call("PATCH", `/api/v1/peers/${client.id}/client`, { gatewayPeerId: other.id });
  await gateway.agent.until(({ peers }) => peers.length === 0);
  await friend.agent.until(({ peers }) => peers.some(({ id }) => id === other.id) && peers.length === 2);
  await other.agent.until(({ peers }) => peers.length === 2);

  await owner.call("DELETE", `/api/v1/peers/${other.id}`);
  await friend.agent.until(({ peers }) => peers.length === 0);
  expect((await owner.get(`/api/v1/peers/${client.id}`)).body).toMatchObject({ gatewayPeerId: null });
  expect((await owner.get(`/api/v1/peers/${client.id}/client-config`)).body.code).toBe("gateway_missing");
  for (const { agent } of [gateway, friend, stranger]) agent.leave();
});

test("F-A16 two clients of one gateway exchange what the rules say of them, not what the gateway itself may do", async () => {
  await emptyNetwork();
  const gateway = await gatewayNode();
  const [one, two] = [(await add(gateway.id)).body, (await add(gateway.id)).body];
  await allow(peer(one.id), peer(gateway.id), "both-ways");
  await allow(peer(two.id), peer(gateway.id), "both-ways");

  const { filter } = await gateway.agent.until((map) => map.filter.length > 6);
  const verdict = (source: string, destination: string) =>
    filter.find(
      (rule) =>
        (rule.source === null || rule.source.some((prefix) => prefix === `${source}/32`)) &&
        (rule.destination === null || rule.destination.some((prefix) => prefix === `${destination}/32`)),
    )?.action;
  const own = (await owner.get(`/api/v1/peers/${gateway.id}`)).body.ipv4;
  expect([verdict(one.ipv4, own), verdict(own, two.ipv4)]).toEqual(["allow", "allow"]);
  expect([verdict(one.ipv4, two.ipv4), verdict(two.ipv4, one.ipv4)]).toEqual(["deny", "deny"]);
  gateway.agent.leave();
});

test("AP-86 the server never gets a private key: what it stores and answers has the public one only, and it refuses what is no key", async () => {
  await emptyNetwork();
  const gateway = await gatewayNode();
  const publicKey = aKey();
  const client = (await add(gateway.id, { publicKey })).body;
  const config = (await owner.get(`/api/v1/peers/${client.id}/client-config`)).body;
  expect(config).toEqual({
    name: client.name,
    addresses: [`${client.ipv4}/32`, `${client.ipv6}/128`],
    mtu: 1_420,
    gatewayPublicKey: gateway.agent.identity.publicKey,
    endpoints: ["192.0.2.7:51820"],
    allowedIps: [network.ipv4Range, network.ipv6Range],
    keepaliveSeconds: 25,
  });
  expect((await add(gateway.id, { privateKey: aKey() })).body.code).toBe("invalid_input");
  for (const wrong of ["", "abc", Buffer.alloc(32).toString("base64"), Buffer.alloc(32, 0xff).toString("base64")]) {
    expect((await add(gateway.id, { publicKey: wrong })).body.code).toBe("invalid_input");
  }
  expect((await add(gateway.id, { publicKey })).body.code).toBe("key_taken");
  expect((await add(client.id)).body).toMatchObject({ code: "gateway_unfit" });
  expect((await add(gateway.id, { name: client.name })).body.code).toBe("name_taken");
  expect((await add(gateway.id, { groupIds: ["grp_0000000000000000000000000"] })).status).toBeGreaterThanOrEqual(400);
  const silent = await join();
  expect((await add(silent.id)).body).toMatchObject({ code: "gateway_unfit" });
  await owner.post(`/api/v1/peers/${gateway.id}/disable`);
  expect((await add(gateway.id)).body).toMatchObject({ code: "gateway_unfit" });
});

test("F-A17 a download link works once, also when many open it at the same moment, and gives nobody the private key", async () => {
  await emptyNetwork();
  const gateway = await gatewayNode();
  const client = (await add(gateway.id)).body;
  const pad = randomBytes(32).toString("base64");
  const made = await owner.post(`/api/v1/peers/${client.id}/client-links`, { pad });
  expect(made).toMatchObject({ status: 201, body: { peerId: client.id } });
  const secret = new URL(made.body.link).hash.slice(1);
  expect(new URL(made.body.link).pathname).toBe("/client");

  const strangers = Array.from({ length: 8 }, () => createRestClient(server.url));
  const answers = await Promise.all(strangers.map((one) => one.post("/api/v1/client-links/redeem", { secret })));
  const given = answers.filter(({ status }) => status === 200);
  expect(given.map(({ body }) => body.pad)).toEqual([pad]);
  expect(given[0]?.body.config).toMatchObject({ name: client.name });
  expect(given[0]?.headers.get("cache-control")).toContain("no-store");
  expect(given[0]?.headers.get("referrer-policy")).toBe("no-referrer");
  expect((await owner.post("/api/v1/client-links/redeem", { secret })).body.code).toMatch(/unusable|rate_limited/);
});

test("F-A17 a newer link, another key and the client's end make a link useless", async () => {
  await emptyNetwork();
  const gateway = await gatewayNode();
  const client = (await add(gateway.id)).body;
  const link = async () => {
    const body = { pad: randomBytes(32).toString("base64") };
    return new URL((await owner.post(`/api/v1/peers/${client.id}/client-links`, body)).body.link).hash.slice(1);
  };
  const redeem = async (secret: string) => (await owner.post("/api/v1/client-links/redeem", { secret })).body.code;
  const first = await link();
  const second = await link();
  expect(await redeem(first)).toBe("client_link_unusable");
  await owner.call("PATCH", `/api/v1/peers/${client.id}/client`, { publicKey: aKey() });
  expect(await redeem(second)).toBe("client_link_unusable");
  const third = await link();
  await owner.call("DELETE", `/api/v1/peers/${client.id}`);
  expect(await redeem(third)).toBe("client_link_unusable");
  expect((await owner.post(`/api/v1/peers/${gateway.id}/client-links`, { pad: aKey() })).status).toBe(404);
});

test("F-A16 an operator may not add a client, change its key or hand out its configuration", async () => {
  await emptyNetwork();
  const gateway = await gatewayNode();
  const client = (await add(gateway.id)).body;
  const { client: operator } = await tokenOf(server, { role: "operator" });
  const body = { name: "mine", publicKey: aKey(), gatewayPeerId: gateway.id };
  expect((await operator.post(`/api/v1/networks/${network.id}/clients`, body)).status).toBe(403);
  expect((await operator.call("PATCH", `/api/v1/peers/${client.id}/client`, { publicKey: aKey() })).status).toBe(403);
  expect((await operator.post(`/api/v1/peers/${client.id}/client-links`, { pad: aKey() })).status).toBe(403);
  const { client: narrow } = await tokenOf(server, { role: "admin", scopes: ["peers:read"] });
  expect((await narrow.post(`/api/v1/networks/${network.id}/clients`, body)).body.code).toBe("scope_missing");
  const listed = await owner.get(`/api/v1/networks/${network.id}/peers?kind=client`);
  expect(listed.body.items.map(({ id }: Json) => id)).toEqual([client.id]);
});
