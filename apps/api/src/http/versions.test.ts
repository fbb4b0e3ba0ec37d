import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

const withVersion = (method: string, path: string, change: { readonly tag: string; readonly name?: string }) =>
  owner.call(method, path, change.name === undefined ? undefined : { name: change.name }, { "if-match": change.tag });

test("API-30 of two changes of one version the second fails, and the answer of the first carries the next tag", async () => {
  const path = `/api/v1/networks/${network.id}`;
  const tag = (await owner.get(path)).headers.get("etag") ?? "";

  const first = await withVersion("PATCH", path, { tag, name: "first" });
  const second = await withVersion("PATCH", path, { tag, name: "second" });
  const next = await withVersion("PATCH", path, { tag: `"other", ${first.headers.get("etag")}`, name: "office" });

  expect(tag).toMatch(/^"[\w-]{22}"$/);
  expect(first.status).toBe(200);
  expect(second.body).toMatchObject({ status: 412, code: "version_mismatch" });
  expect(second.body.detail).toContain(first.headers.get("etag"));
  expect(next.status).toBe(200);
  expect((await owner.get(path)).headers.get("etag")).toBe(tag);
});

test("API-30 ten changes of one version at the same time: one is made", async () => {
  const created = await owner.post("/api/v1/networks", { name: "contended" });
  const tag = created.headers.get("etag") ?? "";

  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, place) =>
      withVersion("PATCH", `/api/v1/networks/${created.body.id}`, { tag, name: `contended-${place}` }),
    ),
  );

  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 412)).toHaveLength(9);
});

test("API-30 settings of a network are changed with a version only; who may not change them hears that instead", async () => {
  const path = `/api/v1/networks/${network.id}`;

  const blind = await owner.call("PATCH", path, { name: "blind" });
  const any = await withVersion("PATCH", path, { tag: "*", name: "office" });
  const stranger = await createRestClient(server.url).call("PATCH", path, { name: "blind" });

  expect(blind.body).toMatchObject({ status: 428, code: "version_required" });
  expect(any.status).toBe(200);
  expect(stranger.status).toBe(401);
});

test("API-30 a peer's tag stands while it comes, goes and counts, and changes with its name", async () => {
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key });
  const { peerId } = await agent.next("welcome");
  const path = `/api/v1/peers/${peerId}`;
  const online = await owner.get(path);
  const tag = online.headers.get("etag") ?? "";
  agent.leave();
  await expect.poll(async () => (await owner.get(path)).body.presence).toBe("offline");
  const offline = await owner.get(path);

  const renamed = await withVersion("PATCH", path, { tag, name: "renamed" });
  const late = await withVersion("PATCH", path, { tag, name: "late" });
  const removedLate = await withVersion("DELETE", path, { tag });
  const weak = await withVersion("DELETE", path, { tag: `W/${renamed.headers.get("etag")}` });
  const removed = await withVersion("DELETE", path, { tag: renamed.headers.get("etag") ?? "" });

  expect(online.body.presence).toBe("online");
  expect(offline.headers.get("etag")).toBe(tag);
  expect(renamed.status).toBe(200);
  expect([late, removedLate, weak].map(({ status }) => status)).toEqual([412, 412, 412]);
  expect(removed.status).toBe(204);
});

test("API-30 a network that changed is not removed by who saw it before", async () => {
  const created = await owner.post("/api/v1/networks", { name: "doomed" });
  const path = `/api/v1/networks/${created.body.id}`;
  const before = created.headers.get("etag") ?? "";
  await withVersion("PATCH", path, { tag: before, name: "reprieved" });

  const refused = await withVersion("DELETE", path, { tag: before });

  expect(refused.status).toBe(412);
  expect((await owner.get(path)).body.name).toBe("reprieved");
  expect((await owner.call("DELETE", path)).status).toBe(204);
});

test("changing a network to what it is already tells no node and leaves no trace in the audit log", async () => {
  const path = `/api/v1/networks/${network.id}`;
  const before = (await owner.get(path)).body;
  const db = server.database.connect();
  const traces = async () => ({
    sequence: (await db.sql`select sequence from networks where id = ${network.id}`).map((row) =>
      String(row["sequence"]),
    ),
    audits: (await db.sql`select count(*)::int as total from audit_events`).map((row): unknown => row["total"]),
  });
  const earlier = await traces();

  const same = await withVersion("PATCH", path, { tag: "*", name: before.name });
  const untouched = await traces();
  const other = await withVersion("PATCH", path, { tag: "*", name: "another" });
  const changed = await traces();

  expect([same.status, same.body]).toEqual([200, before]);
  expect(untouched).toEqual(earlier);
  expect(other.status).toBe(200);
  expect(changed).not.toEqual(earlier);
  await db.dispose();
});
