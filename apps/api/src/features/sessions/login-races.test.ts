import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { join } from "../../testing/people.ts";
import { createRestClient, setUp } from "../../testing/rest-client.ts";
import type { RestClient } from "../../testing/rest-client.ts";
import { untilBlocked } from "../../testing/until-blocked.ts";

let server: TestApp;
let owner: RestClient;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

const signIn = (login: string, password: string, browser = createRestClient(server.url)) =>
  browser.post("/api/v1/sessions", { login, password });

/** Runs `first`, and then `second` while the row of the account is held: both wait, in this order. */
async function inOrder(userId: string, first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const { sql, dispose } = server.database.connect();
  const waiting = { first: 0, second: 0 };
  let both: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`select 1 from users where id = ${userId} for update`;
    const begun = first();
    await untilBlocked({ sql });
    waiting.first = (await blocked(sql)).length;
    const next = second();
    both = Promise.all([begun, next]);
    // A second one waits as well, whether for the row or for the table; then the row is free.
    await expect.poll(async () => (await blocked(sql)).length, { timeout: 30_000 }).toBeGreaterThan(waiting.first);
  });
  await both;
  await dispose();
}

const blocked = (sql: ReturnType<TestApp["database"]["connect"]>["sql"]) =>
  sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test("SEC-6 SEC-47 a login that races the disabling of its account leaves no session, whoever is first", async () => {
  for (const order of ["login first", "login second"]) {
    const login = `race-${order.replace(" ", "-")}`;
    const { userId, password } = await join(server, owner, { login, role: "viewer" });
    const browser = createRestClient(server.url);
    const enter = () => signIn(login, password, browser);
    const shut = () => owner.post(`/api/v1/users/${userId}/disable`);
    await (order === "login first" ? inOrder(userId, enter, shut) : inOrder(userId, shut, enter));
    await owner.post(`/api/v1/users/${userId}/enable`);

    expect((await owner.get(`/api/v1/sessions?userId=${userId}`)).body.items, order).toEqual([]);
    expect((await browser.get("/api/v1/sessions/current")).status, order).toBe(401);
  }
});

test("SEC-6 a login with the old password that races its change leaves no session, whoever is first", async () => {
  for (const order of ["login first", "login second"]) {
    const login = `change-${order.replace(" ", "-")}`;
    const { userId, password, browser } = await join(server, owner, { login, role: "viewer" });
    const thief = createRestClient(server.url);
    const enter = () => signIn(login, password, thief);
    const change = () =>
      browser.post("/api/v1/users/current/password", { currentPassword: password, newPassword: "another password" });
    await (order === "login first" ? inOrder(userId, enter, change) : inOrder(userId, change, enter));

    expect((await thief.get("/api/v1/sessions/current")).status, order).toBe(401);
    expect((await browser.get("/api/v1/sessions/current")).status, order).toBe(200);
    expect((await signIn(login, "another password")).status, order).toBe(201);
  }
});
