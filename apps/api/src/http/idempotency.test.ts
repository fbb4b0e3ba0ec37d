import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let nowMs = Date.now();

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

const create = (path: string, body: unknown, key: string) =>
  owner.call("POST", `/api/v1${path}`, body, { "idempotency-key": key });

describe("API-31 a repeated call with the same key", () => {
  test.each([
    { path: (): string => "/networks", body: { name: "once" }, listPath: (): string => "/networks?q=once" },
    {
      path: (): string => "/tokens",
      body: { name: "ci", scopes: ["networks:read"] },
      listPath: (): string => "/tokens",
    },
    {
      path: (): string => `/networks/${network.id}/enrolment-keys`,
      body: { usesMax: 1, expiresInSeconds: 600 },
      listPath: (): string => `/networks/${network.id}/enrolment-keys`,
    },
  ])("gets the same answer, secrets included, and creates nothing: $body", async ({ path, body, listPath }) => {
    const key = randomUUID();
    const first = await create(path(), body, key);

    const again = await create(path(), body, key);

    expect(first.status).toBe(201);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await owner.get(`/api/v1${listPath()}`)).body.items).toHaveLength(1);
  });

  test("leaves neither the key nor the secret in the database", async () => {
    const key = randomUUID();
    const made = await create("/tokens", { name: "hidden", scopes: ["networks:read"] }, key);
    const { sql, dispose } = server.database.connect();

    const rows = JSON.stringify(await sql`select * from idempotent_answers`);
    await dispose();

    expect(rows.length).toBeGreaterThan(100);
    expect(rows).not.toContain(key);
    expect(rows).not.toContain(made.body.token);
    expect(rows).not.toContain(Buffer.from(made.body.token).toString("base64").slice(0, 30));
  });

  test("after a restart of the server still gets it, after a day creates again", async () => {
    const key = randomUUID();
    const made = await create("/tokens", { name: "durable", scopes: ["networks:read"] }, key);
    const cookie = owner.cookie() ?? "";
    server = await server.restart();
    owner = createRestClient(server.url, { cookie });

    const again = await create("/tokens", { name: "durable", scopes: ["networks:read"] }, key);
    nowMs += 24 * 3_600_000;
    const nextDay = await create("/tokens", { name: "durable", scopes: ["networks:read"] }, key);

    expect(again.body.token).toBe(made.body.token);
    expect(nextDay.status).toBe(201);
    expect(nextDay.body.id).not.toBe(made.body.id);
  });
});

test("API-31 the key of one call cannot be used for another one", async () => {
  const key = randomUUID();
  await create("/networks", { name: "first-use" }, key);

  const body = await create("/networks", { name: "second-use" }, key);
  const operation = await create("/tokens", { name: "x", scopes: [] }, key);

  for (const answer of [body, operation]) {
    expect(answer.body).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  }
});

test("API-31 calls at the same time make one thing: the others hear that it is in progress or get its answer", async () => {
  const key = randomUUID();

  const answers = await Promise.all(
    Array.from({ length: 6 }, () => create("/tokens", { name: "racing", scopes: ["networks:read"] }, key)),
  );

  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(new Set(made.map(({ body }) => body.token)).size).toBe(1);
  for (const { body } of refused) expect(body).toMatchObject({ status: 409, code: "idempotency_in_progress" });
  const { body } = await owner.get("/api/v1/tokens?limit=500");
  expect(body.items.filter(({ name }: Json) => name === "racing")).toHaveLength(1);
});

test("API-31 a call that failed is not kept: the same key may try again", async () => {
  const key = randomUUID();
  const { body: blocking } = await owner.post("/api/v1/networks", { name: "busy-name" });

  const refused = await create("/networks", { name: "busy-name" }, key);
  await owner.call("DELETE", `/api/v1/networks/${blocking.id}`);
  const made = await create("/networks", { name: "busy-name" }, key);

  expect(refused.body).toMatchObject({ status: 409, code: "name_taken" });
  expect(made.status).toBe(201);
});

test("API-31 a key opens nothing for who is not signed in, and a short one is refused", async () => {
  const key = randomUUID();
  const mine = await create("/networks", { name: "mine" }, key);
  const stranger = await createRestClient(server.url).call(
    "POST",
    "/api/v1/networks",
    { name: "mine" },
    {
      "idempotency-key": key,
    },
  );
  const short = await create("/networks", { name: "short" }, "1");

  expect(mine.status).toBe(201);
  expect(stranger.status).toBe(401);
  expect(short.body).toMatchObject({ status: 400, errors: [{ code: "idempotency_key" }] });
});
