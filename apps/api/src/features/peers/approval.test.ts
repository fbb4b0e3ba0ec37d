import { afterAll, beforeAll, expect, test } from "vitest";
import { readNetwork } from "../../db/changes-repository.ts";
import { auditEvents } from "../../db/schema/index.ts";
import { createAbsenceRound } from "../../jobs/remove-absent-peers.ts";
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

/** A network of its own where all may reach all. */
async function openNetwork(settings: object = {}): Promise<void> {
  made += 1;
  network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
  await owner.post(`/api/v1/networks/${network.id}/rules`, {});
  const answer = await owner.call("PATCH", `/api/v1/networks/${network.id}`, settings, { "if-match": "*" });
  expect(answer.status).toBe(200);
}

async function join(key: string): Promise<{ readonly agent: SimulatedAgent; readonly peerId: string }> {
  const agent = await connectAgent(server.url, { joinKey: key });
  return { agent, peerId: (await agent.next("welcome")).peerId };
}

const judge = (peerId: string, verdict: string) => owner.post(`/api/v1/peers/${peerId}/${verdict}`);
const stateOf = async (peerId: string) => (await owner.get(`/api/v1/peers/${peerId}`)).body.state;

test("F-A7 AP-81 CP-ID3 a pending peer stands in no map and gets none until somebody lets it in", async () => {
  await openNetwork({ approval: "required" });
  const { key } = await makeKey(owner, network.id);
  const first = await join((await makeKey(owner, network.id, { approval: "given" })).key);
  await first.agent.until(() => true);
  const waiting = await join(key);

  expect(await stateOf(waiting.peerId)).toBe("pending");
  const pending = (await owner.get(`/api/v1/networks/${network.id}/peers?state=pending`)).body.items;
  expect(pending.map(({ id }: Json) => id)).toEqual([waiting.peerId]);
  // What is changed afterwards arrives; nothing of the pending peer came with it.
  await owner.call("PATCH", `/api/v1/peers/${first.peerId}`, { name: "first-one" });
  const map = await first.agent.until(({ self }) => self.name === "first-one");
  expect(map.peers).toEqual([]);
  expect(waiting.agent.frames.some(({ kind }) => kind === "mapBegin" || kind === "delta")).toBe(false);

  const approved = await judge(waiting.peerId, "approve");

  expect(approved).toMatchObject({ status: 200, body: { state: "active" } });
  const own = await waiting.agent.until(({ peers }) => peers.length === 1);
  expect(own.self.peerId).toBe(waiting.peerId);
  await first.agent.until(({ peers }) => peers.some(({ id }) => id === waiting.peerId));
  for (const { agent } of [first, waiting]) agent.leave();
});

test("F-A7 a rejected peer hears it, is refused when it comes again, and may still be approved", async () => {
  await openNetwork();
  const { key } = await makeKey(owner, network.id, { approval: "required" });
  const { agent, peerId } = await join(key);

  expect((await judge(peerId, "reject")).body.state).toBe("rejected");
  expect(await agent.next("bye")).toMatchObject({ reason: "unauthorised" });
  const again = await connectAgent(server.url, { identity: agent.identity, joinKey: key });
  expect(await again.next("bye")).toMatchObject({ reason: "unauthorised" });
  expect(await stateOf(peerId)).toBe("rejected");

  await judge(peerId, "approve");
  const back = await connectAgent(server.url, { identity: agent.identity });
  expect((await back.until(() => true)).self.peerId).toBe(peerId);
  back.leave();
});

test("F-A7 an expired peer that comes back with a key waits like a new one where new ones must be let in", async () => {
  await openNetwork({ approval: "required" });
  const given = async () => (await makeKey(owner, network.id, { approval: "given" })).key;
  const { agent, peerId } = await join(await given());
  await agent.until(() => true);
  await judge(peerId, "expire");
  await agent.next("bye");

  const { key } = await makeKey(owner, network.id);
  const waiting = await connectAgent(server.url, { identity: agent.identity, joinKey: key });
  await waiting.next("welcome");
  const renewed = await stateOf(peerId);
  await judge(peerId, "approve");
  await waiting.until(() => true);
  await judge(peerId, "expire");
  await waiting.next("bye");
  const back = await connectAgent(server.url, { identity: agent.identity, joinKey: await given() });
  await back.until(() => true);

  expect(renewed).toBe("pending");
  expect(await stateOf(peerId)).toBe("active");
  back.leave();
});

test("AP-46 a disabled peer hears it and leaves all maps; enabled, it has its old place and groups", async () => {
  await openNetwork();
  const { key } = await makeKey(owner, network.id);
  const [stays, goes] = [await join(key), await join(key)];
  await stays.agent.until(({ peers }) => peers.length === 1);
  const { self } = await goes.agent.until(() => true);

  const disabled = await judge(goes.peerId, "disable");
  expect(disabled.body).toMatchObject({ state: "disabled", presence: "offline" });
  expect(await goes.agent.next("bye")).toMatchObject({ reason: "disabled" });
  await stays.agent.until(({ peers }) => peers.length === 0);
  const fresh = await makeKey(owner, network.id);
  const refused = await connectAgent(server.url, { identity: goes.agent.identity, joinKey: fresh.key });
  expect(await refused.next("bye")).toMatchObject({ reason: "disabled" });

  await judge(goes.peerId, "enable");
  const back = await connectAgent(server.url, { identity: goes.agent.identity });
  expect((await back.until(() => true)).self).toEqual(self);
  await stays.agent.until(({ peers }) => peers.length === 1);
  for (const agent of [stays.agent, back]) agent.leave();
});

test("verdicts that make no sense for a peer's state are refused with that state", async () => {
  await openNetwork();
  const { agent, peerId } = await join((await makeKey(owner, network.id)).key);

  const active = [await judge(peerId, "reject"), await judge(peerId, "approve"), await judge(peerId, "enable")];
  await judge(peerId, "disable");
  const disabled = [await judge(peerId, "approve"), await judge(peerId, "reject"), await judge(peerId, "disable")];

  expect(active.map(({ status }) => status)).toEqual([409, 200, 200]);
  expect(disabled.map(({ status }) => status)).toEqual([409, 409, 200]);
  expect(active[0]?.body).toMatchObject({ code: "peer_state" });
  expect(active[0]?.body.detail).toContain("active");
  agent.cut();
});

test("F-A13 a network's membership time ends every new membership, but not that of a peer that opts out", async () => {
  await openNetwork({ membershipSeconds: 3_600 });
  const { key } = await makeKey(owner, network.id);
  const { agent, peerId } = await join(key);
  const { createdAt, expiresAt } = (await owner.get(`/api/v1/peers/${peerId}`)).body;

  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
  const optedOut = await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt: null });
  expect(optedOut.body).toMatchObject({ state: "active", expiresAt: null });
  agent.leave();
});

test("F-A13 an end that was set while a peer waited stays when it is approved; without one the time of the network runs", async () => {
  await openNetwork({ approval: "required", membershipSeconds: 3_600 });
  const { key } = await makeKey(owner, network.id);
  const [set, unset] = [await join(key), await join(key)];
  const before = (await owner.get(`/api/v1/peers/${unset.peerId}`)).body;
  const chosen = new Date(Date.now() + 86_400_000).toISOString();
  await owner.call("PATCH", `/api/v1/peers/${set.peerId}`, { expiresAt: chosen });

  const approved = [await judge(set.peerId, "approve"), await judge(unset.peerId, "approve")];

  expect(before).toMatchObject({ state: "pending", expiresAt: null });
  expect(approved[0]?.body).toMatchObject({ state: "active", expiresAt: chosen });
  expect(Date.parse(approved[1]?.body.expiresAt)).toBeGreaterThanOrEqual(Date.parse(before.createdAt) + 3_600_000);
  for (const { agent } of [set, unset]) agent.leave();
});

test("CP-57 F-A12 F-A15 CP-50 CP-51 AP-83 a peer goes when it was away for its time, never while it is connected", async () => {
  await openNetwork({ idleRemovalSeconds: 7_200 });
  const short = await makeKey(owner, network.id, { ephemeralSeconds: 60 });
  const lasting = await makeKey(owner, network.id);
  const [connected, away, idle] = [await join(short.key), await join(short.key), await join(lasting.key)];
  expect((await owner.get(`/api/v1/peers/${connected.peerId}`)).body).toMatchObject({
    ephemeralSeconds: 60,
    removalAt: null,
  });
  away.agent.leave();
  idle.agent.leave();
  const { removalAt, lastSeenAt } = await eventually("the removal time", async () => {
    const { body } = await owner.get(`/api/v1/peers/${away.peerId}`);
    return body.presence === "offline" ? body : undefined;
  });
  expect(Date.parse(removalAt) - Date.parse(lastSeenAt)).toBe(60_000);
  const { db, dispose } = server.database.connect();
  const startMs = Date.now();
  let nowMs = startMs;
  const contents = await loaded(db);
  const round = createAbsenceRound({
    db,
    networks: () => contents,
    isOnline: (id) => id === connected.peerId,
    nowMs: () => nowMs,
  });
  const left = async (atMs: number) => {
    nowMs = startMs + atMs;
    await round();
    return (await owner.get(`/api/v1/networks/${network.id}/peers`)).body.items.map(({ id }: Json) => id);
  };

  // Nobody goes right after a start; the first absence of a node counts from its grace.
  expect(await left(80_000)).toHaveLength(3);
  expect(await left(400_000)).not.toContain(away.peerId);
  expect(await left(400_001)).toEqual(expect.arrayContaining([connected.peerId, idle.peerId]));
  expect(await left(7_600_000)).toEqual([connected.peerId]);

  const events = (await db.select().from(auditEvents)).filter(({ objectId }) => objectId === away.peerId);
  expect(events.at(-1)).toMatchObject({ actorKind: "server", action: "peers.removeAbsent" });
  expect(await stateOf(connected.peerId)).toBe("active");
  await dispose();
  connected.agent.leave();
});

async function loaded(db: Parameters<typeof readNetwork>[0]) {
  const contents = await readNetwork(db, network.id);
  if (!contents) throw new Error("the network is there");
  return [contents];
}

test("F-A5 CP-4 AP-84 a peer changes its address while it runs; the old one rests, others are refused with the reason", async () => {
  await openNetwork();
  const { key } = await makeKey(owner, network.id);
  const [moves, other] = [await join(key), await join(key)];
  const before = (await moves.agent.until(() => true)).self;
  const { self: otherSelf } = await other.agent.until(() => true);
  const wanted = before.ipv4?.replace(/\d+$/, "77");
  const move = (address: string | null | undefined) => owner.post(`/api/v1/peers/${moves.peerId}/move`, { address });

  const moved = await move(wanted);

  expect(moved).toMatchObject({ status: 200, body: { ipv4: wanted } });
  const self = (await moves.agent.until((map) => map.self.ipv4 === wanted)).self;
  expect(self.ipv6).toBe(moved.body.ipv6);
  expect(self.ipv6).not.toBe(before.ipv6);
  const seen = await other.agent.until(({ peers }) => peers[0]?.ipv4 === wanted);
  expect(seen.peers).toMatchObject([{ id: moves.peerId, ipv6: self.ipv6 }]);
  const refused = [await move(before.ipv4), await move(otherSelf.ipv4), await move("192.0.2.1"), await move("x")];
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual([
    [409, "address_taken"],
    [409, "address_taken"],
    [422, "address_unusable"],
    [422, "address_unusable"],
  ]);
  expect((await move(self.ipv6)).body.ipv4).toBe(wanted);
  for (const { agent } of [moves, other]) agent.leave();
});
