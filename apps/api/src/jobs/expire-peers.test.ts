import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { auditEvents } from "../db/schema/index.ts";
import { stateAt } from "../domain/peer-state.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";
import { startPeerExpiry } from "./expire-peers.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let joinKey: string;
/** Added to the real time; a test that moves it restarts the server or asks it to look. */
let aheadMs = 0;
const clock = { nowMs: () => Date.now() + aheadMs };

beforeAll(async () => {
  server = await createTestApp({ clock });
});
beforeEach(async () => {
  if (!owner) ({ owner, network } = await setUp(server.url));
  joinKey = (await makeKey(owner, network.id)).key;
});
afterAll(() => server.dispose());

test("F-A13 a membership ends at the very moment, not a millisecond before and not behind it", () => {
  const end = new Date(1_800_000_000_000);

  expect(stateAt(end, new Date(end.getTime() - 1))).toBe("active");
  expect(stateAt(end, end)).toBe("expired");
  expect(stateAt(null, end)).toBe("active");
});

test("AP-46 CP-30 CP-ID3 a peer whose time comes hears the reason at once and leaves every map", async () => {
  const stays = await connectAgent(server.url, { joinKey });
  const goes = await connectAgent(server.url, { joinKey });
  const { peerId } = await goes.next("welcome");
  await stays.until(({ peers }) => peers.some(({ id }) => id === peerId));

  const answer = await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt: fromNow(300) });
  expect(answer.body).toMatchObject({ state: "active" });

  expect(await goes.next("bye")).toMatchObject({ reason: "expired" });
  await eventually("the closed line", () => goes.isClosed() || undefined);
  await stays.until(({ peers }) => !peers.some(({ id }) => id === peerId));
  const newcomer = await connectAgent(server.url, { joinKey });
  expect((await newcomer.until(() => true)).peers.map(({ id }) => id)).not.toContain(peerId);
  const shown = await eventually("offline", async () => {
    const { body } = await owner.get(`/api/v1/peers/${peerId}`);
    return body.presence === "offline" ? body : undefined;
  });
  expect(shown).toMatchObject({ state: "expired", presence: "offline" });
  leave(stays, newcomer);
});

test("AP-46 an expired node is refused with the reason; renewed, it has its old id, name and address", async () => {
  const other = await connectAgent(server.url, { joinKey });
  const first = await connectAgent(server.url, { joinKey, hostname: "lodger" });
  const { peerId } = await first.next("welcome");
  const { self } = await first.until(() => true);
  const expired = await owner.post(`/api/v1/peers/${peerId}/expire`, {});
  expect(expired).toMatchObject({ status: 200, body: { state: "expired" } });
  expect(await first.next("bye")).toMatchObject({ reason: "expired" });

  const refused = await connectAgent(server.url, { identity: first.identity });
  expect(await refused.next("bye")).toMatchObject({ reason: "expired" });
  const again = await owner.post(`/api/v1/peers/${peerId}/expire`, {});
  expect(again.body.expiresAt).toBe(expired.body.expiresAt);

  const renewed = await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt: null });
  expect(renewed.body).toMatchObject({ state: "active", expiresAt: null });
  const back = await connectAgent(server.url, { identity: first.identity });
  expect((await back.until(() => true)).self).toMatchObject({ peerId, name: "lodger", ipv4: self.ipv4 });
  await other.until(({ peers }) => peers.some(({ id }) => id === peerId));
  leave(other, back);
});

test("AP-46 CP-ID5 an expired node comes back with a new key, which it spends, under its old id", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  await owner.post(`/api/v1/peers/${peerId}/expire`, {});
  await agent.next("bye");
  const fresh = await makeKey(owner, network.id);

  const back = await connectAgent(server.url, { identity: agent.identity, joinKey: fresh.key });

  expect((await back.next("welcome")).peerId).toBe(peerId);
  expect((await owner.get(`/api/v1/peers/${peerId}`)).body).toMatchObject({ state: "active", expiresAt: null });
  const keys = (await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`)).body.items;
  expect(keys.find(({ id }: Json) => id === fresh.id)).toMatchObject({ uses: 1 });
  back.leave();
});

test("an expiry that has passed means now, and a new name leaves the expiry alone", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const path = `/api/v1/peers/${peerId}`;
  const later = fromNow(3_600_000);

  await owner.call("PATCH", path, { expiresAt: later });
  expect((await owner.call("PATCH", path, { name: "other-name" })).body).toMatchObject({ expiresAt: later });
  expect((await owner.call("PATCH", path, { expiresAt: fromNow(-1_000) })).body).toMatchObject({ state: "expired" });
  expect((await owner.call("PATCH", path, { name: "still-expired" })).body).toMatchObject({ state: "expired" });
  expect((await owner.call("PATCH", path, { expiresAt: "tomorrow" })).status).toBe(400);
  expect(await agent.next("bye")).toMatchObject({ reason: "expired" });
});

test("F-A13 the job sleeps until the next expiry, and writes down that the server did it", async () => {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const end = Date.now() + 1_000_000_000;
  await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt: new Date(end).toISOString() });
  const { db, dispose } = server.database.connect();
  let nowMs = end - 5_000;
  const slept: { delayMs: number; run: () => void }[] = [];
  const job = await startPeerExpiry({
    db,
    clock: { nowMs: () => nowMs },
    onError: (error) => {
      throw error;
    },
    schedule: (delayMs, run) => {
      slept.push({ delayMs, run });
      return () => undefined;
    },
  });
  const wake = async (atMs: number) => {
    const before = slept.length;
    nowMs = atMs;
    slept.at(-1)?.run();
    await eventually("the next sleep", () => slept.length > before || undefined);
    return (await owner.get(`/api/v1/peers/${peerId}`)).body.state;
  };
  expect(slept.at(-1)?.delayMs).toBe(5_000);
  expect(await wake(end - 1)).toBe("active");
  expect(slept.at(-1)?.delayMs).toBe(1);
  expect(await wake(end)).toBe("expired");
  expect(await agent.next("bye")).toMatchObject({ reason: "expired" });

  const events = (await db.select().from(auditEvents)).filter(({ objectId }) => objectId === peerId);
  expect(events.at(-1)).toMatchObject({
    actorKind: "server",
    action: "peers.expire",
    before: { state: "active" },
    after: { state: "expired" },
  });
  await job.dispose();
  await dispose();
});

test("D12 F-A13 an expiry that passes while the server is away takes effect when it is back", async () => {
  const [goes, stays] = [await connectAgent(server.url, { joinKey }), await connectAgent(server.url, { joinKey })];
  const { peerId } = await goes.next("welcome");
  const stayedId = (await stays.next("welcome")).peerId;
  await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt: fromNow(3_600_000) });
  await owner.call("PATCH", `/api/v1/peers/${stayedId}`, { expiresAt: fromNow(7_200_000) });

  aheadMs += 3_600_000;
  server = await server.restart();

  const refused = await connectAgent(server.url, { identity: goes.identity });
  expect(await refused.next("bye")).toMatchObject({ reason: "expired" });
  const back = await connectAgent(server.url, { identity: stays.identity });
  expect((await back.until(() => true)).peers.map(({ id }) => id)).not.toContain(peerId);
  back.leave();
});

function fromNow(ms: number): string {
  return new Date(clock.nowMs() + ms).toISOString();
}

function leave(...agents: readonly SimulatedAgent[]): void {
  for (const agent of agents) agent.leave();
}
