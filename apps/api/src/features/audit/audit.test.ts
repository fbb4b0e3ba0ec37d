import { afterAll, beforeAll, expect, test } from "vitest";
import { TRAFFIC_KEEP } from "../../domain/traffic-steps.ts";
import { prune } from "../../jobs/prune.ts";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let user: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network, user } = await setUp(server.url));
});
afterAll(() => server.dispose());

const events = async (query: string): Promise<Json[]> => (await owner.get(`/api/v1/audit-events?${query}`)).body.items;

test("F-E1 a change is told with who, from where, under which request, and what it was before and after", async () => {
  const made = await owner.post("/api/v1/networks", { name: "before" });
  const headers = { "if-match": "*", "x-request-id": "audit-trace-0001" };
  await owner.call("PATCH", `/api/v1/networks/${made.body.id}`, { name: "after" }, headers);

  const [changed] = await events("requestId=audit-trace-0001");
  const one = await owner.get(`/api/v1/audit-events/${changed.id}`);

  expect(changed).toMatchObject({
    action: "networks.update",
    actor: { kind: "user", id: user.id, login: "olga" },
    address: "127.0.0.1",
    networkId: made.body.id,
    objectId: made.body.id,
    before: { name: "before" },
    after: { name: "after" },
  });
  expect(one.body).toEqual(changed);
});

test("F-E1 an event outlives what it tells about", async () => {
  const made = await owner.post("/api/v1/networks", { name: "gone soon" });
  await owner.call("DELETE", `/api/v1/networks/${made.body.id}`);

  const told = await events(`objectId=${made.body.id}`);

  expect(told.map(({ action }) => action)).toEqual(["networks.remove", "networks.create"]);
  expect(told[0]).toMatchObject({ before: { name: "gone soon" }, after: null });
});

test("SEC-4 no event carries a secret that an answer showed once", async () => {
  const key = await makeKey(owner, network.id);
  const token = await owner.post("/api/v1/tokens", { name: "ci", scopes: ["audit:read"] });

  const text = JSON.stringify(await events("limit=500"));

  expect(text).toContain(token.body.id);
  expect(text).not.toContain(token.body.token);
  expect(text).not.toContain(key.key.split(".")[0]);
});

test("a token reads the log with the scope audit:read and not without", async () => {
  const make = async (scope: string) =>
    createRestClient(server.url, {
      token: (await owner.post("/api/v1/tokens", { name: "t", scopes: [scope] })).body.token,
    });
  const reader = await make("audit:read");
  const other = await make("networks:read");

  expect((await reader.get("/api/v1/audit-events")).status).toBe(200);
  expect((await other.get("/api/v1/audit-events")).body).toMatchObject({ status: 403, code: "scope_missing" });
});

test("F-E1 events older than the retention are forgotten, younger ones stay", async () => {
  const { db, sql, dispose } = server.database.connect();
  await sql`insert into audit_events (id, at, actor_kind, address, request_id, action)
    values (${`evt_${"0".repeat(32)}`}, now() - interval '366 days', 'server', '', '', 'old.one'),
           (${`evt_${"1".repeat(32)}`}, now() - interval '364 days', 'server', '', '', 'young.one')`;

  await prune(db, { nowMs: Date.now(), auditDays: 365, trafficKeep: TRAFFIC_KEEP });
  await dispose();

  expect(await events("action=old.one")).toEqual([]);
  expect(await events("action=young.one")).toHaveLength(1);
});
