import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { auditOf, join, secretOf, tokenOf } from "../../testing/people.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { untilBlocked } from "../../testing/until-blocked.ts";

let server: TestApp;
let owner: RestClient;
let ownerId: string;
let network: Json;
let nowMs = Date.now();

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  const made = await setUp(server.url);
  ({ owner, network } = made);
  ownerId = made.user.id;
});
// Guesses of one test are forgotten before the next.
beforeEach(() => void (nowMs += 2 * 3_600_000));
afterAll(() => server.dispose());

describe("invites", () => {
  test("F-D10 an invite makes one account with its role, shows its link once, and is in the audit log", async () => {
    const invite = await owner.post("/api/v1/invites", { role: "operator", login: "otto" });
    const secret = secretOf(invite.body.link);
    const browser = createRestClient(server.url);
    const seen = await browser.post("/api/v1/invites/look", { secret });
    const body = { secret, login: "another", password: "a long password" };

    const accepted = await browser.post("/api/v1/invites/accept", body);
    const again = await createRestClient(server.url).post("/api/v1/invites/accept", body);

    expect(seen.body).toMatchObject({ login: "otto", role: "operator" });
    expect(accepted.body.user).toMatchObject({ login: "otto", role: "operator" });
    expect((await browser.get("/api/v1/sessions/current")).body.user.login).toBe("otto");
    expect(again.body).toMatchObject({ status: 403, code: "invite_unusable" });
    const list = await owner.get("/api/v1/invites?count=true");
    expect(list.body.items[0]).toMatchObject({ state: "used", usedBy: accepted.body.user.id, createdBy: ownerId });
    expect(JSON.stringify(list.body)).not.toContain(secret);
    expect((await auditOf(server, "invites.accept")).at(-1)).toMatchObject({ object_id: accepted.body.user.id });
  });

  test("SEC-4 the database holds no secret of an invite", async () => {
    const invite = await owner.post("/api/v1/invites", { role: "viewer" });
    const { sql, dispose } = server.database.connect();
    const rows = JSON.stringify([await sql`select * from invites`, await sql`select * from audit_events`]);
    await dispose();

    expect(rows).toContain(invite.body.id);
    expect(rows).not.toContain(secretOf(invite.body.link));
  });

  test("SEC-5 of eight parallel uses of one link one makes an account", async () => {
    const invite = await owner.post("/api/v1/invites", { role: "viewer" });
    const secret = secretOf(invite.body.link);
    const body = (place: number) => ({ secret, login: `racer-${place}`, password: "a long password" });

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, place) => createRestClient(server.url).post("/api/v1/invites/accept", body(place))),
    );

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("an expired, a revoked and an unknown link are refused alike", async () => {
    const expired = await owner.post("/api/v1/invites", { role: "viewer", expiresInSeconds: 60 });
    const revoked = await owner.post("/api/v1/invites", { role: "viewer" });
    await owner.call("DELETE", `/api/v1/invites/${revoked.body.id}`);
    nowMs += 61_000;
    const secrets = [secretOf(expired.body.link), secretOf(revoked.body.link), "a".repeat(43)];

    for (const secret of secrets) {
      const body = { secret, login: "late", password: "a long password" };
      const answer = await createRestClient(server.url).post("/api/v1/invites/accept", body);
      expect(answer.body).toMatchObject({ status: 403, code: "invite_unusable" });
    }
  });

  test("a link is worth no more than the rights that its maker has when it is used", async () => {
    const maker = await join(server, owner, { login: "maker", role: "admin" });
    const invite = await maker.browser.post("/api/v1/invites", { role: "admin" });
    await owner.call("PATCH", `/api/v1/users/${maker.userId}`, { role: "viewer" });

    const answer = await createRestClient(server.url).post("/api/v1/invites/accept", {
      secret: secretOf(invite.body.link),
      login: "heir",
      password: "a long password",
    });

    expect(answer.body.code).toBe("invite_unusable");
  });

  test("a link used while its maker is removed is refused, and neither of the two breaks the other", async () => {
    const maker = await join(server, owner, { login: "leaver", role: "admin" });
    const invite = await maker.browser.post("/api/v1/invites", { role: "viewer" });
    const body = { secret: secretOf(invite.body.link), login: "too-late", password: "a long password" };
    const { sql, dispose } = server.database.connect();

    const accepting = await sql.begin(async (tx) => {
      await tx`lock table users in share row exclusive mode`;
      const answer = createRestClient(server.url).post("/api/v1/invites/accept", body);
      await untilBlocked({ sql });
      await tx`delete from users where id = ${maker.userId}`;
      return { answer };
    });
    await dispose();

    expect((await accepting.answer).body).toMatchObject({ status: 403, code: "invite_unusable" });
  });

  test("a login that is taken does not spend the link", async () => {
    const invite = await owner.post("/api/v1/invites", { role: "viewer" });
    const secret = secretOf(invite.body.link);
    const accept = (login: string) =>
      createRestClient(server.url).post("/api/v1/invites/accept", { secret, login, password: "a long password" });

    expect((await accept("OLGA")).body).toMatchObject({ status: 409, code: "name_taken" });
    expect((await accept("fresh-name")).status).toBe(201);
  });
});

describe("roles", () => {
  test("SEC-37 nobody gives more than they have, or touches somebody stronger, whatever fields they send", async () => {
    const admin = await join(server, owner, { login: "ada", role: "admin" });
    const attempts = [
      await admin.browser.call("PATCH", `/api/v1/users/${admin.userId}`, { role: "owner" }),
      await admin.browser.call("PATCH", `/api/v1/users/${ownerId}`, { role: "viewer" }),
      await admin.browser.call("POST", `/api/v1/users/${ownerId}/disable`, {}),
      await admin.browser.call("POST", `/api/v1/users/${ownerId}/reset-mfa`, {}),
      await admin.browser.call("DELETE", `/api/v1/users/${ownerId}`),
      await admin.browser.post("/api/v1/invites", { role: "owner" }),
      await admin.browser.post("/api/v1/service-accounts", { login: "robot-x", role: "owner" }),
    ];
    const stuffed = await createRestClient(server.url).post("/api/v1/invites/accept", {
      secret: "a".repeat(43),
      login: "eve",
      password: "a long password",
      role: "owner",
    });

    for (const { body } of attempts) expect(body).toMatchObject({ status: 403, code: "forbidden" });
    expect(stuffed.body).toMatchObject({ status: 400, code: "invalid_input" });
    expect((await owner.get(`/api/v1/users/${admin.userId}`)).body.role).toBe("admin");
  });

  test("a changed role counts from the next call on, for browsers and tokens", async () => {
    const { browser, userId } = await join(server, owner, { login: "nora", role: "admin" });
    const made = await browser.post("/api/v1/tokens", { name: "t", scopes: ["networks:write"] });
    const robot = createRestClient(server.url, { token: made.body.token });
    expect((await robot.post("/api/v1/networks", { name: "by-nora" })).status).toBe(201);

    await owner.call("PATCH", `/api/v1/users/${userId}`, { role: "viewer" });

    expect((await robot.post("/api/v1/networks", { name: "by-nora-2" })).body).toMatchObject({ code: "forbidden" });
    expect((await browser.post("/api/v1/networks", { name: "by-nora-2" })).body).toMatchObject({ code: "forbidden" });
    expect((await robot.get("/api/v1/networks")).status).toBe(200);
  });

  test("one enabled owner with a password always remains, also when two owners go at the same moment", async () => {
    const second = await join(server, owner, { login: "second", role: "owner" });
    const lone = await Promise.all([
      owner.call("PATCH", `/api/v1/users/${second.userId}`, { role: "viewer" }),
      second.browser.call("PATCH", `/api/v1/users/${ownerId}`, { role: "viewer" }),
    ]);
    const statuses = lone.map(({ status }) => status).toSorted((left, right) => left - right);
    const left = lone[0]?.status === 200 ? owner : second.browser;
    const leftId = lone[0]?.status === 200 ? ownerId : second.userId;
    const goneId = lone[0]?.status === 200 ? second.userId : ownerId;
    for (const call of ["disable", "remove", "update"] as const) {
      const answer =
        call === "remove"
          ? await left.call("DELETE", `/api/v1/users/${leftId}`)
          : call === "disable"
            ? await left.post(`/api/v1/users/${leftId}/disable`)
            : await left.call("PATCH", `/api/v1/users/${leftId}`, { role: "admin" });
      expect(answer.body).toMatchObject({ status: 409, code: "last_owner" });
    }

    expect(statuses[0]).toBe(200);
    expect([403, 409]).toContain(statuses[1]);
    expect((await left.call("PATCH", `/api/v1/users/${goneId}`, { role: "owner" })).status).toBe(200);
  });

  test("a change leaves who, what, before and after in the audit log", async () => {
    const { userId } = await join(server, owner, { login: "audited", role: "viewer" });
    await owner.call("PATCH", `/api/v1/users/${userId}`, { role: "operator", grants: ["diagnostics"] });

    const event = (await auditOf(server, "users.update")).findLast(({ object_id }) => object_id === userId);

    expect(event).toMatchObject({
      before: { role: "viewer", grants: [] },
      after: { role: "operator", grants: ["diagnostics"] },
    });
  });
});

describe("lists", () => {
  test("people are listed, searched, sorted and paged; service accounts are not among them", async () => {
    await owner.post("/api/v1/service-accounts", { login: "zz-robot", role: "viewer" });
    for (const login of ["zz-1", "zz-2", "zz-3"]) await join(server, owner, { login, role: "viewer" });

    const first = await owner.get("/api/v1/users?q=ZZ-&sort=-login&limit=2&count=true");
    const rest = await owner.get(`/api/v1/users?q=ZZ-&sort=-login&limit=2&cursor=${first.body.nextCursor}`);

    expect(first.body.total).toBe(3);
    expect([...first.body.items, ...rest.body.items].map(({ login }) => login)).toEqual(["zz-3", "zz-2", "zz-1"]);
    expect(JSON.stringify(first.body)).not.toMatch(/password_?hash|argon2/i);
    expect((await owner.get("/api/v1/service-accounts?q=zz")).body.items[0]).toMatchObject({ login: "zz-robot" });
  });
});

describe("leaving", () => {
  test("SEC-44 removing somebody takes their own credentials and nobody else's, and leaves what they made", async () => {
    const gone = await join(server, owner, { login: "gone", role: "admin" });
    const stays = await join(server, owner, { login: "stays", role: "admin" });
    await gone.browser.post("/api/v1/tokens", { name: "a", scopes: ["peers:read"] });
    await stays.browser.post("/api/v1/tokens", { name: "b", scopes: ["peers:read"] });
    const key = await makeKey(gone.browser, network.id);
    const counts = async () => {
      const { sql, dispose } = server.database.connect();
      const [row] = await sql`select (select count(*)::int from tokens) as tokens,
        (select count(*)::int from sessions) as sessions, (select count(*)::int from enrolment_keys) as keys`;
      await dispose();
      return row;
    };
    const before = await counts();

    const removed = await owner.call("DELETE", `/api/v1/users/${gone.userId}`);

    expect(removed.status).toBe(204);
    expect(await counts()).toEqual({
      tokens: before?.["tokens"] - 1,
      sessions: before?.["sessions"] - 1,
      keys: before?.["keys"],
    });
    const keys = await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`);
    expect(keys.body.items.find(({ id }: Json) => id === key.id)).toMatchObject({ state: "valid", createdBy: null });
    expect((await stays.browser.get("/api/v1/sessions/current")).status).toBe(200);
    expect((await owner.call("DELETE", `/api/v1/users/${gone.userId}`)).status).toBe(404);
  });

  test("SEC-6 SEC-47 disabling ends cookie, token and login at once; enabling brings no old session back", async () => {
    const { browser, userId, password } = await join(server, owner, { login: "dora", role: "admin" });
    const made = await browser.post("/api/v1/tokens", { name: "t", scopes: ["networks:read"] });
    const robot = createRestClient(server.url, { token: made.body.token });
    const signIn = () => createRestClient(server.url).post("/api/v1/sessions", { login: "dora", password });

    const disabled = await owner.post(`/api/v1/users/${userId}/disable`);

    expect(disabled.body.state).toBe("disabled");
    expect((await browser.get("/api/v1/networks")).status).toBe(401);
    expect((await robot.get("/api/v1/networks")).status).toBe(401);
    expect((await signIn()).body.code).toBe("login_failed");
    await owner.post(`/api/v1/users/${userId}/enable`);
    expect((await browser.get("/api/v1/networks")).status).toBe(401);
    expect((await robot.get("/api/v1/networks")).status).toBe(200);
    expect((await signIn()).status).toBe(201);
  });
});

describe("roles in single networks", () => {
  test("SEC-18 whoever has a role in one network sees and changes nothing of another: 404 on REST and tRPC", async () => {
    const other = (await owner.post("/api/v1/networks", { name: "other" })).body;
    const rule = { kind: "all-to-all" };
    const foreign = (await owner.post(`/api/v1/networks/${other.id}/rules`, rule)).body;
    const { client } = await tokenOf(server, {
      role: "none",
      networkRoles: [{ networkId: network.id, role: "admin" }],
    });
    const input = encodeURIComponent(JSON.stringify({ networkId: other.id }));

    const refused = [
      await client.get(`/api/v1/networks/${other.id}`),
      await client.get(`/api/v1/networks/${other.id}/peers`),
      await client.get(`/api/v1/networks/${other.id}/rules`),
      await client.call("DELETE", `/api/v1/rules/${foreign.id}`),
      await client.post(`/api/v1/networks/${other.id}/enrolment-keys`, {}),
      await client.get(`/trpc/networks.get?input=${input}`),
      await client.get(`/trpc/peers.list?input=${input}`),
    ];
    const own = await client.get("/api/v1/networks?count=true");

    for (const answer of refused) expect(answer.status).toBe(404);
    expect(foreign.id).toMatch(/^pol_/);
    expect(own.body).toMatchObject({ total: 1, items: [{ id: network.id }] });
    expect((await client.get(`/api/v1/networks/${network.id}/peers`)).status).toBe(200);
    expect((await client.post(`/api/v1/networks/${network.id}/enrolment-keys`, {})).status).toBe(201);
    expect((await client.post("/api/v1/networks", { name: "mine" })).status).toBe(403);
    expect((await client.get("/api/v1/users")).status).toBe(403);
  });

  test("a role in a network adds to the one of the server, there and nowhere else", async () => {
    const other = (await owner.post("/api/v1/networks", { name: "elsewhere" })).body;
    const { userId, browser } = await join(server, owner, { login: "local", role: "viewer" });
    const networkRoles = [{ networkId: network.id, role: "admin" }];

    const changed = await owner.call("PATCH", `/api/v1/users/${userId}`, { networkRoles });

    expect(changed.body).toMatchObject({ role: "viewer", networkRoles });
    expect((await browser.post(`/api/v1/networks/${network.id}/enrolment-keys`)).status).toBe(201);
    expect((await browser.post(`/api/v1/networks/${other.id}/enrolment-keys`)).body.code).toBe("forbidden");
    expect((await browser.get(`/api/v1/networks/${other.id}`)).status).toBe(200);
  });
});
