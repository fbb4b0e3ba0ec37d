import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { auditOf, join } from "../../testing/people.ts";
import { createRestClient, setUp } from "../../testing/rest-client.ts";
import type { RestClient } from "../../testing/rest-client.ts";

let server: TestApp;
let owner: RestClient;
let nowMs = Date.now();
let people = 0;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner } = await setUp(server.url));
});
// Guesses of one test are forgotten before the next.
beforeEach(() => void (nowMs += 2 * 3_600_000));
afterAll(() => server.dispose());

/** Somebody new whose second factor is on. */
async function withFactor() {
  people += 1;
  const login = `factor-${people}`;
  const person = await join(server, owner, { login, role: "viewer" });
  const { browser, password } = person;
  const begun = await browser.post("/api/v1/users/current/totp", { password });
  const secret: string = begun.body.secret;
  const confirmed = await browser.post("/api/v1/users/current/totp/confirm", { code: codeAt(secret, nowMs) });
  expect(confirmed.status).toBe(200);
  const recoveryCodes: string[] = confirmed.body.recoveryCodes;
  const signIn = (code?: string, word = password) =>
    createRestClient(server.url).post("/api/v1/sessions", {
      login,
      password: word,
      ...(code !== undefined && { code }),
    });
  return { ...person, login, secret, uri: begun.body.uri, recoveryCodes, signIn };
}

function codeAt(secret: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
}

describe("the second factor", () => {
  test("F-D5 an account with it needs password and code; the QR code's address carries the same secret", async () => {
    const { secret, uri, signIn, login } = await withFactor();
    nowMs += 30_000;

    const half = await signIn();
    const wrong = await signIn("000000" === codeAt(secret, nowMs) ? "111111" : "000000");
    const whole = await signIn(codeAt(secret, nowMs));

    expect(half.body).toMatchObject({ status: 401, code: "second_factor_needed" });
    expect(half.headers.get("set-cookie")).toBeNull();
    expect(wrong.body).toMatchObject({ status: 401, code: "second_factor_wrong" });
    expect(whole.body.user.login).toBe(login);
    expect(new URL(uri).searchParams.get("secret")).toBe(secret);
    expect(decodeURIComponent(uri)).toContain(`weft:${login}`);
  });

  test("a code counts once: the one that switched it on, and one that was just used, are refused", async () => {
    const { secret, signIn } = await withFactor();

    const first = await signIn(codeAt(secret, nowMs));
    nowMs += 30_000;
    const code = codeAt(secret, nowMs);
    const raced = await Promise.all([signIn(code), signIn(code), signIn(code)]);
    const replayed = await signIn(code);

    expect(first.body.code).toBe("second_factor_wrong");
    expect(raced.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replayed.body.code).toBe("second_factor_wrong");
  });

  test("codes of a clock that is half a minute off are taken, older ones are not", async () => {
    const { secret, signIn } = await withFactor();
    nowMs += 120_000;

    expect((await signIn(codeAt(secret, nowMs - 60_000))).body.code).toBe("second_factor_wrong");
    expect((await signIn(codeAt(secret, nowMs + 30_000))).status).toBe(201);
  });

  test("SEC-54 a recovery code works once, however it is written; used and failed ones are audit events", async () => {
    const { recoveryCodes, signIn, browser, userId } = await withFactor();
    const [first = "", second = ""] = recoveryCodes;

    const used = await signIn(first.toUpperCase().replaceAll("-", " "));
    const again = await signIn(first);
    const other = await signIn(second);

    expect(recoveryCodes).toHaveLength(10);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect([used.status, again.body.code, other.status]).toEqual([201, "second_factor_wrong", 201]);
    expect((await browser.get("/api/v1/users/current")).body.recoveryCodesLeft).toBe(8);
    const logins = (await auditOf(server, "sessions.login")).filter(({ object_id }) => object_id === userId);
    const failures = await auditOf(server, "sessions.secondFactorFailed");
    expect(logins.at(-1)?.["after"]).toMatchObject({ secondFactor: "recovery" });
    expect(failures.some(({ object_id }) => object_id === userId)).toBe(true);
  });

  test("SEC-7 guesses of codes are bounded; the right code during the wait fails too", async () => {
    const { secret, signIn } = await withFactor();
    nowMs += 30_000;
    const good = codeAt(secret, nowMs);
    const bad = ["111111", "222222", "333333", "444444", "555555", "666666", "777777"].filter((code) => code !== good);
    const answers = [];
    for (const code of bad) answers.push(await signIn(code));

    const right = await signIn(good);
    const recovery = await signIn("aaaa-aaaa-aaaa-aaaa");

    expect(answers[0]?.body.code).toBe("second_factor_wrong");
    expect(answers.at(-1)?.body).toMatchObject({ status: 429, code: "rate_limited" });
    expect(right.status).toBe(429);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(recovery.status).toBe(429);
    nowMs += (Number(right.headers.get("retry-after")) + 1) * 1_000;
    expect((await signIn(codeAt(secret, nowMs))).status).toBe(201);
  });

  test("SEC-4 neither the secret nor a recovery code is readable in the database, in lists or in the log", async () => {
    const { secret, recoveryCodes, userId } = await withFactor();
    const { sql, dispose } = server.database.connect();
    const dump = JSON.stringify([
      await sql`select * from users`,
      await sql`select * from recovery_codes`,
      await sql`select * from audit_events`,
    ]);
    await dispose();
    const shown = JSON.stringify((await owner.get(`/api/v1/users/${userId}`)).body);

    for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll("-", ""))]) {
      for (const place of [dump, shown, server.logText()]) expect(place).not.toContain(text);
    }
  });

  test("it is switched off with password and code, and comes back with another secret", async () => {
    const { browser, secret, password, signIn } = await withFactor();
    nowMs += 30_000;
    const off = (body: object) => browser.post("/api/v1/users/current/totp/remove", body);

    const half = await off({ password: "wrong password", code: codeAt(secret, nowMs) });
    const done = await off({ password, code: codeAt(secret, nowMs) });

    expect(half.body.code).toBe("password_wrong");
    expect(done.status).toBe(204);
    expect((await signIn()).status).toBe(201);
    const again = await browser.post("/api/v1/users/current/totp", { password });
    expect(again.body.secret).not.toBe(secret);
  });

  test("an unconfirmed secret protects nothing and locks nobody out", async () => {
    const { browser, password } = await join(server, owner, { login: "undecided", role: "viewer" });
    await browser.post("/api/v1/users/current/totp", { password });

    const login = await createRestClient(server.url).post("/api/v1/sessions", { login: "undecided", password });
    const early = await browser.post("/api/v1/users/current/recovery-codes", { code: "123456" });

    expect(login.status).toBe(201);
    expect(early.body).toMatchObject({ status: 409, code: "second_factor_state" });
  });

  test("an administrator takes it off an account whose owner lost it; sessions of the account end", async () => {
    const { userId, browser, signIn } = await withFactor();

    const reset = await owner.post(`/api/v1/users/${userId}/reset-mfa`);

    expect(reset.body).toMatchObject({ hasSecondFactor: false });
    expect((await browser.get("/api/v1/sessions/current")).status).toBe(401);
    expect((await signIn()).status).toBe(201);
    expect((await auditOf(server, "users.resetMfa")).at(-1)).toMatchObject({ object_id: userId });
  });

  test("nobody takes their own off as an administrator: that needs password and code, whoever holds the session", async () => {
    const { userId, browser } = await withFactor();
    await owner.call("PATCH", `/api/v1/users/${userId}`, { role: "admin" });
    const made = await browser.post("/api/v1/tokens", { name: "t", scopes: ["users:write"] });
    const robot = createRestClient(server.url, { token: made.body.token });

    const answers = [
      await browser.post(`/api/v1/users/${userId}/reset-mfa`),
      await robot.post(`/api/v1/users/${userId}/reset-mfa`),
    ];

    expect(answers.map(({ body }) => body.code)).toEqual(["forbidden", "forbidden"]);
    expect((await browser.get("/api/v1/users/current")).body.hasSecondFactor).toBe(true);
  });

  test("a token changes neither password nor second factor: it proves nobody's presence", async () => {
    const { browser, password } = await join(server, owner, { login: "absent", role: "admin" });
    const made = await browser.post("/api/v1/tokens", { name: "t", scopes: ["users:write"] });
    const robot = createRestClient(server.url, { token: made.body.token });

    const answers = [
      await robot.post("/api/v1/users/current/totp", { password }),
      await robot.post("/api/v1/users/current/password", {
        currentPassword: password,
        newPassword: "a newer password",
      }),
    ];

    for (const { body } of answers) expect(body).toMatchObject({ status: 403, code: "forbidden" });
  });
});

describe("the password", () => {
  test("SEC-15 changing it needs the old one, and ends the other sessions of the account", async () => {
    const { browser, password } = await join(server, owner, { login: "changer", role: "viewer" });
    const other = createRestClient(server.url);
    await other.post("/api/v1/sessions", { login: "changer", password });
    const change = (currentPassword: string) =>
      browser.post("/api/v1/users/current/password", { currentPassword, newPassword: "a newer password" });

    const refused = await change("not the old one");
    const changed = await change(password);

    expect(refused.body).toMatchObject({ status: 403, code: "password_wrong" });
    expect(changed.status).toBe(204);
    expect((await other.get("/api/v1/sessions/current")).status).toBe(401);
    expect((await browser.get("/api/v1/sessions/current")).status).toBe(200);
    const login = (word: string) =>
      createRestClient(server.url).post("/api/v1/sessions", { login: "changer", password: word });
    expect((await login(password)).status).toBe(401);
    expect((await login("a newer password")).status).toBe(201);
  });

  test("SEC-56 an empty password is refused before anything is looked up", async () => {
    const answer = await createRestClient(server.url).post("/api/v1/sessions", { login: "olga", password: "" });

    expect(answer.body).toMatchObject({ status: 400, code: "invalid_input" });
  });

  test("SEC-55 a short password is refused by the server itself", async () => {
    const { browser, password } = await join(server, owner, { login: "shorty", role: "viewer" });

    const answer = await browser.post("/api/v1/users/current/password", {
      currentPassword: password,
      newPassword: "short",
    });

    expect(answer.body).toMatchObject({ status: 400, code: "invalid_input" });
  });
});

describe("sessions", () => {
  test("SEC-9 everybody sees their own browsers and ends any of them; others' do not exist for them", async () => {
    const { browser, password, userId } = await join(server, owner, { login: "lister", role: "viewer" });
    const phone = createRestClient(server.url);
    await phone.call("POST", "/api/v1/sessions", { login: "lister", password }, { "user-agent": "A phone" });

    const { items } = (await browser.get("/api/v1/sessions?count=true")).body;
    const own = items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    const other = items.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent);
    const all = (await owner.get(`/api/v1/sessions?userId=${userId}`)).body.items;
    const [foreign] = (await owner.get("/api/v1/sessions")).body.items.filter(
      ({ login }: { login: string }) => login === "olga",
    );

    expect(items).toHaveLength(2);
    expect(other).toMatchObject({ userAgent: "A phone", address: "127.0.0.1", login: "lister" });
    expect(JSON.stringify(items)).not.toContain("tokenHash");
    expect(new Set(all.map(({ id }: { id: string }) => id))).toEqual(new Set([own.id, other.id]));
    expect((await browser.call("DELETE", `/api/v1/sessions/${foreign.id}`)).status).toBe(404);
    expect((await browser.call("DELETE", `/api/v1/sessions/${other.id}`)).status).toBe(204);
    expect((await phone.get("/api/v1/sessions/current")).status).toBe(401);
    expect((await browser.get("/api/v1/sessions/current")).status).toBe(200);
  });

  test("all others are ended in one call", async () => {
    const { browser, password } = await join(server, owner, { login: "sweeper", role: "viewer" });
    const phone = createRestClient(server.url);
    await phone.post("/api/v1/sessions", { login: "sweeper", password });

    const swept = await browser.post("/api/v1/sessions/revoke-others");

    expect(swept.status).toBe(204);
    expect((await phone.get("/api/v1/sessions/current")).status).toBe(401);
    expect((await browser.get("/api/v1/sessions")).body.items).toHaveLength(1);
  });

  test("an administrator ends sessions of weaker people, and none of stronger ones", async () => {
    const admin = await join(server, owner, { login: "ender", role: "admin" });
    const weak = await join(server, owner, { login: "ended", role: "viewer" });
    const find = async (login: string) =>
      (await admin.browser.get("/api/v1/sessions")).body.items.find((item: { login: string }) => item.login === login)
        .id;

    expect((await admin.browser.call("DELETE", `/api/v1/sessions/${await find("ended")}`)).status).toBe(204);
    expect((await admin.browser.call("DELETE", `/api/v1/sessions/${await find("olga")}`)).body.code).toBe("forbidden");
    expect((await weak.browser.get("/api/v1/sessions/current")).status).toBe(401);
  });

  test("SEC-9 SEC-64 a restart of the server logs nobody out, and codes stay good", async () => {
    const own = await createTestApp();
    const made = await setUp(own.url);
    const begun = await made.owner.post("/api/v1/users/current/totp", { password: "correct horse" });
    const again = await own.restart();
    const browser = createRestClient(again.url, { cookie: made.owner.cookie() ?? "" });

    const code = codeAt(begun.body.secret, Date.now());
    const confirmed = await browser.post("/api/v1/users/current/totp/confirm", { code });

    expect((await browser.get("/api/v1/sessions/current")).body.user.login).toBe("olga");
    expect(confirmed.status).toBe(200);
    await again.dispose();
  });
});
