import { keyBytes, publicKeyFromBytes } from "@weft/protocol";
import type { PublicKey } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually, makeIdentity } from "../testing/simulated-agent.ts";
import type { Identity, SimulatedAgent } from "../testing/simulated-agent.ts";

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

async function join(
  identity: Identity = makeIdentity(),
): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const agent = await connectAgent(server.url, { joinKey, identity });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id: peerId };
}

const peersNow = async () =>
  (await owner.get(`/api/v1/networks/${network.id}/peers?limit=500&count=true`)).body as {
    total: number;
    items: Json[];
  };

test("CP-54 20 parallel registrations of one node make one peer with one address, and one audit event", async () => {
  const identity = makeIdentity();
  const { total } = await peersNow();

  const agents = await Promise.all(Array.from({ length: 20 }, () => connectAgent(server.url, { joinKey, identity })));

  const ids = agents.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.kind === "welcome" ? [frame.peerId] : [])),
  );
  // Whoever is not let in comes too often; nobody hears that something is taken.
  const refusals = agents.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.kind === "bye" ? [frame.detail] : [])),
  );
  expect(refusals.filter((detail) => detail !== "flapping" && detail !== "none")).toEqual([]);
  expect(new Set(ids).size).toBe(1);
  expect((await peersNow()).total).toBe(total + 1);
  const { sql, dispose } = server.database.connect();
  const events = await sql`select id from audit_events where action = 'peers.enrol' and object_id = ${ids[0] ?? ""}`;
  await dispose();
  expect(events).toHaveLength(1);
  for (const agent of agents) agent.cut();
});

test("ND-23 AP-84 50 nodes that join at once get 50 addresses of each family, and keep them over 20 starts", async () => {
  const identities = Array.from({ length: 50 }, makeIdentity);
  const agents = await Promise.all(identities.map((identity) => connectAgent(server.url, { joinKey, identity })));
  const selves = await Promise.all(agents.map(async (agent) => (await agent.until(() => true)).self));
  for (const agent of agents) agent.leave();

  expect(new Set(selves.map(({ ipv4 }) => ipv4)).size).toBe(50);
  expect(new Set(selves.map(({ ipv6 }) => ipv6)).size).toBe(50);
  // Five nodes, four times each: one node that starts 20 times in a moment would be taken for a flapping one.
  for (let start = 0; start < 20; start += 1) {
    const place = start % 5;
    const again = await connectAgent(server.url, { identity: identities[place] ?? makeIdentity() });
    expect((await again.until(() => true)).self).toEqual(selves[place]);
    again.leave();
  }
});

test("SEC-42 another node's WireGuard key is refused at registration and at every later start; its owner stays connected", async () => {
  const victim = await join();
  const bystander = await join();
  const { publicKey } = victim.agent.identity;

  const stranger = await connectAgent(server.url, { joinKey, identity: { ...makeIdentity(), publicKey } });
  const insider = await connectAgent(server.url, { identity: { ...bystander.agent.identity, publicKey } });

  expect(await stranger.next("bye")).toMatchObject({ reason: "unauthorised" });
  expect(await insider.next("bye")).toMatchObject({ reason: "unauthorised" });
  expect(victim.agent.isClosed()).toBe(false);
  expect((await owner.get(`/api/v1/peers/${victim.id}`)).body).toMatchObject({ publicKey, presence: "online" });
  expect((await owner.get(`/api/v1/peers/${bystander.id}`)).body.publicKey).toBe(bystander.agent.identity.publicKey);
  // Its own key is still good.
  const back = await connectAgent(server.url, { identity: bystander.agent.identity });
  expect((await back.next("welcome")).peerId).toBe(bystander.id);
  for (const agent of [victim.agent, bystander.agent, back]) agent.cut();
});

test("SEC-42 an identity key without its private half opens nothing: neither with a key nor as a known node", async () => {
  const victim = await join();
  const { identityKey } = victim.agent.identity;

  const forged = { ...makeIdentity(), identityKey };
  const asNew = await connectAgent(server.url, { joinKey, identity: forged });
  const asKnown = await connectAgent(server.url, { identity: forged });

  for (const agent of [asNew, asKnown]) expect(await agent.next("bye")).toMatchObject({ detail: "bad_signature" });
  expect(victim.agent.isClosed()).toBe(false);
  victim.agent.cut();
});

test("SEC-45 CP-ID4 the same key in another encoding is refused, so that none is known under two names", async () => {
  const victim = await join();
  const bytes = keyBytes(victim.agent.identity.publicKey);

  const refused = [withTopBit(bytes), TOO_LARGE, new Uint8Array(32)].map(async (encoding) => {
    const identity = { ...makeIdentity(), publicKey: keyOf(encoding) };
    const agent = await connectAgent(server.url, { joinKey, identity });
    return agent.next("bye");
  });

  for (const bye of await Promise.all(refused)) {
    expect(bye).toMatchObject({ reason: "unauthorised", message: expect.stringContaining("key") });
  }
  victim.agent.cut();
});

/** X25519 ignores the top bit: this text stands for the same point. */
function withTopBit(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte, place) => (place === 31 ? byte | 0x80 : byte));
}

/** The prime itself, little-endian, plus nine: the same as nine. */
const TOO_LARGE = Uint8Array.from({ length: 32 }, (_, place) => (place === 0 ? 0xf6 : place === 31 ? 0x7f : 0xff));

function keyOf(bytes: Uint8Array): PublicKey {
  const key = publicKeyFromBytes(bytes);
  if (!key.ok) throw new Error("32 bytes");
  return key.value;
}

test("CP-31 CP-59 AP-46 a removed node is out for good, also after a restart of the server, and may join again as a new one", async () => {
  const app = await createTestApp();
  const own = await setUp(app.url);
  const { key } = await makeKey(own.owner, own.network.id);
  const identity = makeIdentity();
  const agent = await connectAgent(app.url, { joinKey: key, identity });
  const { peerId } = await agent.next("welcome");

  await own.owner.call("DELETE", `/api/v1/peers/${peerId}`);
  await eventually("the closed stream", () => agent.isClosed() || undefined);
  const second = await app.restart();
  const refused = await connectAgent(second.url, { identity, lastMap: agent.version() });
  const again = await connectAgent(second.url, { identity, joinKey: key });
  const fresh = await again.next("welcome");

  expect(await refused.next("bye")).toMatchObject({ detail: "unknown_node" });
  expect(fresh.peerId).not.toBe(peerId);
  const restarted = createRestClient(second.url, { cookie: own.owner.cookie() ?? "" });
  expect((await restarted.get(`/api/v1/peers/${peerId}`)).status).toBe(404);
  expect((await restarted.get(`/api/v1/peers/${fresh.peerId}`)).body.presence).toBe("online");
  again.cut();
  await second.dispose();
});

test("SEC-43 AP-82 opening a link changes nothing: every page and every read with a join key in hand registers no node", async () => {
  const { key, id } = await makeKey(owner, network.id, { usesMax: 1 });
  const before = await everything();
  const [secret, pin] = String(key).split(".");

  for (const path of [`/join/${key}`, `/#${key}`, `/install.sh?key=${key}`, `/agent/v1?nonce=${pin}&key=${secret}`]) {
    for (const method of ["GET", "HEAD"]) {
      await fetch(server.url + path, { method, headers: { authorization: `Bearer ${secret}` } });
    }
  }

  expect(await everything()).toEqual(before);
  const agent = await connectAgent(server.url, { joinKey: key });
  await agent.next("welcome");
  const { body } = await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`);
  expect(body.items.find((item: Json) => item.id === id).uses).toBe(1);
  agent.cut();
});

/** What registering would change. */
async function everything(): Promise<Json> {
  const { sql, dispose } = server.database.connect();
  const rows = await sql`
    select (select count(*) from peers) as peers, (select sum(uses) from enrolment_keys) as uses,
      (select count(*) from audit_events) as events`;
  await dispose();
  return rows[0];
}
