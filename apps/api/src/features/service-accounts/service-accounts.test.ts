import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../config.ts";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { auditOf, join } from "../../testing/people.ts";
import { createRestClient, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let nowMs = Date.now();

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

describe("service accounts", () => {
  test("F-D8 API-40 SEC-4 SEC-64 a service account acts through its token, whose text is shown once and kept nowhere", async () => {
    const robot = await owner.post("/api/v1/service-accounts", { login: "terraform", role: "admin" });
    const path = `/api/v1/service-accounts/${robot.body.id}`;
    const made = await owner.post(`${path}/tokens`, { name: "ci", scopes: ["networks:write"] });
    const client = createRestClient(server.url, { token: made.body.token });

    const created = await client.post("/api/v1/networks", { name: "by-robot" });
    const { sql, dispose } = server.database.connect();
    const tables = await sql`select tablename from pg_tables where schemaname = 'public'`;
    let dump = "";
    for (const { tablename } of tables) dump += JSON.stringify(await sql`select * from ${sql(tablename)}`);
    await dispose();

    expect(made.body.token).toMatch(/^weft_svc_[0-9A-Za-z]{36}$/);
    expect(made.body).toMatchObject({ userId: robot.body.id, hint: `${made.body.token.slice(0, 13)}…` });
    expect(created.status).toBe(201);
    expect((await auditOf(server, "networks.create")).at(-1)).toMatchObject({ actor_login: "terraform" });
    expect(dump).toContain(made.body.id);
    expect(dump).not.toContain(made.body.token.slice(9));
    expect((await client.get("/api/v1/users")).body).toMatchObject({ code: "scope_missing" });
    const listed = await owner.get(`/api/v1/tokens?userId=${robot.body.id}`);
    expect(listed.body.items).toMatchObject([{ name: "ci", scopes: ["networks:write"] }]);
    expect(listed.body.items[0].lastUsedAt).not.toBeNull();
  });

  test("it cannot sign in, and its name is nobody's login", async () => {
    await owner.post("/api/v1/service-accounts", { login: "no-login", role: "viewer" });

    const login = await createRestClient(server.url).post("/api/v1/sessions", { login: "no-login", password: "x" });
    const twin = await owner.post("/api/v1/invites", { role: "viewer", login: "No-Login" });

    expect(login.body).toMatchObject({ status: 401, code: "login_failed" });
    expect(twin.body).toMatchObject({ status: 409, code: "name_taken" });
  });

  test("SEC-6 disabling stops its tokens at once, enabling lets them work again, removing ends them for good", async () => {
    const robot = await owner.post("/api/v1/service-accounts", { login: "short-lived", role: "viewer" });
    const path = `/api/v1/service-accounts/${robot.body.id}`;
    const made = await owner.post(`${path}/tokens`, { name: "t", scopes: ["networks:read"] });
    const client = createRestClient(server.url, { token: made.body.token });
    const status = async () => (await client.get("/api/v1/networks")).status;

    const before = await status();
    await owner.post(`${path}/disable`);
    const disabled = await status();
    await owner.post(`${path}/enable`);
    const enabled = await status();
    await owner.call("DELETE", path);

    expect([before, disabled, enabled, await status()]).toEqual([200, 401, 200, 401]);
    expect((await owner.get(path)).status).toBe(404);
  });

  test("a token hands a service account only scopes that it has, and nobody makes tokens of stronger accounts", async () => {
    const strong = await owner.post("/api/v1/service-accounts", { login: "strong", role: "owner" });
    const weak = await owner.post("/api/v1/service-accounts", { login: "weak", role: "admin" });
    const narrow = await owner.post("/api/v1/tokens", { name: "narrow", scopes: ["tokens:write", "peers:read"] });
    const admin = await join(server, owner, { login: "adam", role: "admin" });
    const make = (client: RestClient, id: string, scopes: string[]) =>
      client.post(`/api/v1/service-accounts/${id}/tokens`, { name: "x", scopes });
    const robot = createRestClient(server.url, { token: narrow.body.token });

    expect((await make(robot, weak.body.id, ["peers:read"])).status).toBe(201);
    expect((await make(robot, weak.body.id, ["peers:write"])).body.code).toBe("scope_missing");
    expect((await make(admin.browser, strong.body.id, ["peers:read"])).body.code).toBe("forbidden");
  });

  test("SEC-37 an administrator gets no token of an account that owns a network, and cannot touch that account", async () => {
    const networkRoles = [{ networkId: network.id, role: "owner" }];
    const robot = await owner.post("/api/v1/service-accounts", { login: "landlord", role: "none", networkRoles });
    const admin = await join(server, owner, { login: "anna", role: "admin" });
    const tenant = await join(server, owner, { login: "tina", role: "none" });
    await owner.call("PATCH", `/api/v1/users/${tenant.userId}`, { networkRoles });
    const path = `/api/v1/service-accounts/${robot.body.id}`;
    const ask = () => admin.browser.post(`${path}/tokens`, { name: "x", scopes: ["networks:write"] });

    const answers = [
      await ask(),
      await admin.browser.post(`${path}/disable`),
      await admin.browser.call("DELETE", path),
      await admin.browser.call("PATCH", `/api/v1/users/${tenant.userId}`, { networkRoles: [] }),
      await admin.browser.post(`/api/v1/users/${tenant.userId}/reset-mfa`),
    ];
    await owner.call("PATCH", `/api/v1/users/${admin.userId}`, { networkRoles });

    expect(answers.map(({ body }) => body.code)).toEqual(answers.map(() => "forbidden"));
    // Whoever owns the network as well gives nothing away that is not theirs.
    expect((await ask()).status).toBe(201);
  });

  test("SEC-52 scopes match exactly: no prefix, no wildcard, no other resource", async () => {
    const ask = (scopes: readonly string[]) => owner.post("/api/v1/tokens", { name: "s", scopes });
    const odd = await Promise.all(
      ["peers", "peers:*", "*:read", "peer:read", "peers:reads", "PEERS:read", "peers:read "].map((scope) =>
        ask([scope]),
      ),
    );
    const made = await ask(["policies:write"]);
    const client = createRestClient(server.url, { token: made.body.token });

    for (const { body } of odd) expect(body).toMatchObject({ status: 400, code: "invalid_input" });
    expect((await client.get("/api/v1/networks")).body).toMatchObject({
      code: "scope_missing",
      detail: "the token lacks the scope networks:read",
    });
  });

  test("API-41 an expired token is refused, and lists say when each was used", async () => {
    const made = await owner.post("/api/v1/tokens", { name: "brief", scopes: ["networks:read"], expiresInSeconds: 60 });
    const client = createRestClient(server.url, { token: made.body.token });
    expect((await client.get("/api/v1/networks")).status).toBe(200);

    nowMs += 61_000;

    expect((await client.get("/api/v1/networks")).body).toMatchObject({ status: 401, code: "not_authenticated" });
  });
});

describe("the bootstrap token", () => {
  const bootstrapToken = "bootstrap-0123456789-abcdef";
  const environment = { WEFT_BOOTSTRAP_TOKEN: bootstrapToken };

  test("F-D9 API-43 it makes one service account with every right, once, also when five ask in parallel", async () => {
    const fresh = await createTestApp({ environment });
    const ask = (login: string, token = bootstrapToken) =>
      createRestClient(fresh.url).post("/api/v1/setup/service-account", { bootstrapToken: token, login });

    const wrong = await ask("eve", "bootstrap-0123456789-abcdeF");
    const answers = await Promise.all(Array.from({ length: 5 }, (_, place) => ask(`robot-${place}`)));
    const made = answers.find(({ status }) => status === 201);
    const client = createRestClient(fresh.url, { token: made?.body.token });

    expect(wrong.body).toMatchObject({ status: 403, code: "bootstrap_unusable" });
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await client.post("/api/v1/networks", { name: "first" })).status).toBe(201);
    const invite = await client.post("/api/v1/invites", { role: "owner", login: "olga" });
    expect(invite.status).toBe(201);
    expect((await createRestClient(fresh.url).get("/api/v1/setup")).body.ownerExists).toBe(false);
    expect(fresh.logText()).not.toContain(bootstrapToken);
    const again = await fresh.restart();
    const late = await createRestClient(again.url).post("/api/v1/setup/service-account", {
      bootstrapToken,
      login: "l",
    });
    expect(late.body.code).toBe("bootstrap_unusable");
    await again.dispose();
  });

  test("API-43 an hour after the first start it is over, whatever restarts in between", async () => {
    let now = Date.now();
    const first = await createTestApp({ environment, clock: { nowMs: () => now } });
    now += 3_000_000;
    const second = await first.restart();
    now += 700_000;

    const late = await createRestClient(second.url).post("/api/v1/setup/service-account", {
      bootstrapToken,
      login: "late",
    });

    expect(late.body.code).toBe("bootstrap_unusable");
    await second.dispose();
  });

  test("API-43 it makes the first owner from another host, and counts as spent then", async () => {
    const fresh = await createTestApp({ environment });
    const client = createRestClient(fresh.url);
    const body = { login: "olga", password: "correct horse", networkName: "office", setupToken: bootstrapToken };

    const made = await client.call("POST", "/api/v1/setup", body, { "x-forwarded-for": "203.0.113.9" });
    const late = await client.post("/api/v1/setup/service-account", { bootstrapToken, login: "late" });

    expect(made.status).toBe(201);
    expect(late.body.code).toBe("bootstrap_unusable");
    await fresh.dispose();
  });

  test("API-43 an owner who came without it ends it: it opens no server that has accounts", async () => {
    const fresh = await createTestApp({ environment });
    await setUp(fresh.url);

    const late = await createRestClient(fresh.url).post("/api/v1/setup/service-account", {
      bootstrapToken,
      login: "late",
    });

    expect(late.body).toMatchObject({ status: 403, code: "bootstrap_unusable" });
    await fresh.dispose();
  });

  test("API-43 on a server that has accounts already it opens nothing", async () => {
    const answer = await createRestClient(server.url).post("/api/v1/setup/service-account", {
      bootstrapToken,
      login: "late",
    });

    expect(answer.body.code).toBe("bootstrap_unusable");
  });

  test("API-43 it may come from a file; a short one is refused with a sentence", async () => {
    const folder = await mkdtemp(joinPath(tmpdir(), "weft-bootstrap-"));
    await writeFile(joinPath(folder, "good"), `${bootstrapToken}\n`);
    await writeFile(joinPath(folder, "short"), "short");
    const read = (name: string) => readConfig({ WEFT_BOOTSTRAP_TOKEN_FILE: joinPath(folder, name) });

    expect(read("good").bootstrapToken).toBe(bootstrapToken);
    expect(() => read("short")).toThrow("24 to 200 characters");
    expect(() => read("none")).toThrow("WEFT_BOOTSTRAP_TOKEN_FILE");
  });
});
