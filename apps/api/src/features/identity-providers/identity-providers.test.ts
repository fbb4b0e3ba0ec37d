import { generateKeyPairSync } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { auditOf, join, secretOf } from "../../testing/people.ts";
import { createRestClient, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { startTestProvider } from "../../testing/test-provider.ts";
import type { Person, TestProvider } from "../../testing/test-provider.ts";

let server: TestApp;
let owner: RestClient;
let provider: TestProvider;
let id: string;
let nowMs = Date.now();
let people = 0;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner } = await setUp(server.url));
  provider = await startTestProvider(`${server.url}/login/callback`);
  const { issuer, clientId, clientSecret } = provider;
  const made = await owner.post("/api/v1/identity-providers", { name: "Test ID", issuer, clientId, clientSecret });
  id = made.body.id;
});
beforeEach(async () => {
  // Guesses of one test are forgotten before the next.
  nowMs += 2 * 3_600_000;
});
afterEach(async () => {
  provider.breakWith(undefined);
  await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { newcomers: "refuse", isEnabled: true });
});
afterAll(async () => {
  await provider.dispose();
  await server.dispose();
});

const begin = (browser: RestClient, intent = "sign-in", proof: object = {}) =>
  browser.post(`/api/v1/identity-providers/${id}/logins`, { intent, ...proof });
const finish = (browser: RestClient, body: object) => browser.post("/api/v1/sessions/oidc", body);

/** The whole way of a browser. */
async function signIn(as: Person, more: { readonly invite?: string; readonly browser?: RestClient } = {}) {
  const { browser = createRestClient(server.url), invite } = more;
  const begun = await begin(browser);
  expect(begun.status).toBe(200);
  const query = await provider.signIn(begun.body.url, as);
  const body = { loginToken: begun.body.loginToken, query, ...(invite !== undefined && { invite }) };
  return { browser, body, begun, answer: await finish(browser, body) };
}

/** Somebody whose account was made by an invite and an identity. */
async function known(name?: string) {
  people += 1;
  const person = { subject: `subject-${people}`, name: name ?? `person-${people}` };
  const link = (await owner.post("/api/v1/invites", { role: "viewer" })).body.link;
  const { answer, browser } = await signIn(person, { invite: secretOf(link) });
  expect(answer.status).toBe(200);
  return { person, browser, user: answer.body.user };
}

describe("signing in", () => {
  test("F-D4 SEC-10 with PKCE and a state: invited at first, by issuer and subject from then on", async () => {
    const first = await known("Paula Provider");
    const again = await signIn(first.person);
    const url = new URL(again.begun.body.url);

    expect(first.user).toMatchObject({ login: "Paula-Provider", role: "viewer" });
    expect(again.answer.body.user.id).toBe(first.user.id);
    expect((await again.browser.get("/api/v1/sessions/current")).body.user.id).toBe(first.user.id);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    expect(url.searchParams.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    expect(url.searchParams.get("nonce")).toBeTruthy();
    expect(url.searchParams.get("redirect_uri")).toBe(`${server.url}/login/callback`);
    expect((await auditOf(server, "sessions.login")).at(-1)).toMatchObject({
      object_id: first.user.id,
      after: { provider: "Test ID" },
    });
  });

  test("the login page learns which providers there are, and no more", async () => {
    const { body } = await createRestClient(server.url).get("/api/v1/login-methods");

    expect(body).toEqual({ providers: [{ id, name: "Test ID" }] });
  });

  test("SEC-10 a callback works once, and in the browser that began it only", async () => {
    const { person } = await known();
    const used = await signIn(person);
    const other = await begin(createRestClient(server.url));
    const fresh = await begin(createRestClient(server.url));
    const query = await provider.signIn(fresh.body.url, person);

    const replayed = await finish(createRestClient(server.url), used.body);
    const foreign = await finish(createRestClient(server.url), { loginToken: other.body.loginToken, query });
    const bare = await finish(createRestClient(server.url), { loginToken: "", query });
    const raced = await Promise.all(
      [1, 2, 3].map(() => finish(createRestClient(server.url), { loginToken: fresh.body.loginToken, query })),
    );

    expect(used.answer.status).toBe(200);
    expect(replayed.body).toMatchObject({ status: 403, code: "login_ended" });
    expect(foreign.body.code).toBe("login_ended");
    expect(bare.status).toBe(400);
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replayed.headers.get("set-cookie")).toBeNull();
  });

  test("SEC-52 the state must come back byte for byte, and the login must not be older than ten minutes", async () => {
    const { person } = await known();
    const browser = createRestClient(server.url);
    const begun = await begin(browser);
    const query = await provider.signIn(begun.body.url, person);
    const state = new URLSearchParams(query).get("state") ?? "";
    const variants = [
      state.toUpperCase(),
      state.slice(0, -1),
      `${state}=`,
      ` ${state}`,
      encodeURIComponent(`${state}%`),
    ];
    for (const variant of variants) {
      const changed = new URLSearchParams(query);
      changed.set("state", variant);
      const answer = await finish(browser, { loginToken: begun.body.loginToken, query: changed.toString() });
      expect(answer.body.code).toBe("login_ended");
    }

    nowMs += 11 * 60_000;

    expect((await finish(browser, { loginToken: begun.body.loginToken, query })).body.code).toBe("login_ended");
  });

  test("SEC-10 a page of another origin can neither begin nor finish a login", async () => {
    const headers = { origin: "https://evil.example" };
    const browser = createRestClient(server.url);

    const begun = await browser.call("POST", `/api/v1/identity-providers/${id}/logins`, {}, headers);
    const ended = await browser.call("POST", "/api/v1/sessions/oidc", { loginToken: "x", query: "state=x" }, headers);

    expect([begun.body.code, ended.body.code]).toEqual(["cross_origin", "cross_origin"]);
  });

  test("somebody who says no at the provider hears that, with a code of its own", async () => {
    const { answer } = await signIn({ subject: "refuser", answer: "no" });

    expect(answer.body).toMatchObject({ status: 403, code: "identity_refused" });
    expect(answer.body.detail).toContain("access_denied");
  });
});

describe("who somebody is", () => {
  test("SEC-40 SEC-32 the same name or mail address at the provider opens no account that exists", async () => {
    const before = (await owner.get("/api/v1/users?count=true")).body.total;
    const { answer } = await signIn({ subject: "an impostor", name: "olga" });
    await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { newcomers: "wait" });
    const waiting = await signIn({ subject: "another impostor", name: "olga" });
    const users = (await owner.get("/api/v1/users?count=true&q=olga")).body.items;

    expect(answer.body).toMatchObject({ status: 403, code: "identity_unknown" });
    expect(waiting.answer.body).toMatchObject({ status: 403, code: "identity_waiting" });
    expect(users.map(({ login, state, role }: Json) => [login, state, role])).toEqual([
      ["olga", "active", "owner"],
      ["olga-2", "waiting", "none"],
    ]);
    expect((await owner.get("/api/v1/users?count=true")).body.total).toBe(before + 1);
    expect((await auditOf(server, "sessions.loginFailed")).at(-1)?.["after"]).toMatchObject({ provider: "Test ID" });
  });

  test("somebody who waits gets in once an administrator approves, and not before", async () => {
    await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { newcomers: "wait" });
    const person = { subject: "patient", name: "patient" };
    const first = await signIn(person);
    const second = await signIn(person);
    const [account] = (await owner.get("/api/v1/users?q=patient")).body.items;

    const approved = await owner.post(`/api/v1/users/${account.id}/enable`);
    const third = await signIn(person);

    expect([first.answer.body.code, second.answer.body.code]).toEqual(["identity_waiting", "identity_waiting"]);
    expect(approved.body.state).toBe("active");
    expect(third.answer.body.user.id).toBe(account.id);
    expect((await third.browser.get("/api/v1/networks")).status).toBe(403);
  });

  test("SEC-41 subjects with slashes, dots and blanks are as different as their bytes", async () => {
    const subjects = ["a/../b", "b", "a//b", "b "];
    const ids = [];
    for (const [place, subject] of subjects.entries()) {
      const link = (await owner.post("/api/v1/invites", { role: "viewer" })).body.link;
      const made = await signIn({ subject, name: `odd-${place}` }, { invite: secretOf(link) });
      const again = await signIn({ subject });
      expect({ subject, id: again.answer.body.user?.id }).toEqual({ subject, id: made.answer.body.user?.id });
      ids.push(made.answer.body.user?.id);
    }

    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(subjects.length);
  });

  test("the same subject at another issuer is somebody else", async () => {
    const { person } = await known();
    const second = await startTestProvider(`${server.url}/login/callback`);
    const { issuer, clientId, clientSecret } = second;
    const made = await owner.post("/api/v1/identity-providers", { name: "Second", issuer, clientId, clientSecret });
    const browser = createRestClient(server.url);
    const begun = await browser.post(`/api/v1/identity-providers/${made.body.id}/logins`, {});
    const query = await second.signIn(begun.body.url, person);

    const answer = await finish(browser, { loginToken: begun.body.loginToken, query });

    expect(answer.body.code).toBe("identity_unknown");
    await owner.call("DELETE", `/api/v1/identity-providers/${made.body.id}`);
    await second.dispose();
  });

  test("an account that exists takes an identity on while it is signed in; one of somebody else it does not get", async () => {
    const local = await join(server, owner, { login: "local", role: "operator" });
    const other = await known();
    const link = async (person: Person) => {
      const begun = await begin(local.browser, "link", { password: local.password });
      const query = await provider.signIn(begun.body.url, person);
      return { body: { loginToken: begun.body.loginToken, query } };
    };
    const mine = { subject: "mine", name: "mine" };

    const taken = await finish(local.browser, (await link(other.person)).body);
    const stolen = await finish(createRestClient(server.url), (await link(mine)).body);
    const linked = await finish(local.browser, (await link(mine)).body);
    const login = await signIn(mine);

    expect(taken.body).toMatchObject({ status: 409, code: "identity_taken" });
    expect(stolen.body.code).toBe("login_ended");
    expect(linked.body.user.id).toBe(local.userId);
    expect(login.answer.body.user.id).toBe(local.userId);
    expect((await begin(createRestClient(server.url), "link")).status).toBe(401);
  });

  test("an identity is added with the password or a code only: an open browser of somebody else is not enough", async () => {
    const { browser, password } = await join(server, owner, { login: "careful", role: "operator" });
    const secret = await switchFactorOn(browser, password);
    nowMs += 30_000;
    const bare = await begin(browser, "link");
    const wrong = await begin(browser, "link", { password: "not the password" });
    const byCode = await begin(browser, "link", { code: codeAt(secret) });

    expect(bare.body).toMatchObject({ status: 403, code: "proof_needed" });
    expect(wrong.body).toMatchObject({ status: 403, code: "password_wrong" });
    expect(byCode.status).toBe(200);
    expect((await auditOf(server, "account.beginLinkFailed")).length).toBeGreaterThanOrEqual(2);
  });

  test("somebody without password and code adds an identity right after a login, and not from an old session", async () => {
    const { browser } = await known();
    expect((await begin(browser, "link")).status).toBe(200);
    nowMs += 11 * 60_000;

    expect((await begin(browser, "link")).body).toMatchObject({ status: 403, code: "proof_needed" });
  });

  test("an identity is taken off with the password; its sessions end and it opens the account no more", async () => {
    const local = await join(server, owner, { login: "leaver", role: "operator" });
    const person = { subject: "leaver at the provider", name: "leaver" };
    const begun = await begin(local.browser, "link", { password: local.password });
    await finish(local.browser, {
      loginToken: begun.body.loginToken,
      query: await provider.signIn(begun.body.url, person),
    });
    const { browser: other } = await signIn(person);
    const own = "/api/v1/users/current/identities";
    const [identity] = (await local.browser.get(own)).body.identities;
    const remove = (body: object) => local.browser.post(`${own}/${identity.id}/remove`, body);

    const bare = await remove({});
    const done = await remove({ password: local.password });
    const again = await remove({ password: local.password });

    expect(identity).toMatchObject({ issuer: provider.issuer, subject: person.subject });
    expect([bare.body.code, done.status, again.status]).toEqual(["proof_needed", 204, 404]);
    expect((await local.browser.get(own)).body).toEqual({ identities: [] });
    expect((await other.get("/api/v1/sessions/current")).status).toBe(401);
    expect((await signIn(person)).answer.body.code).toBe("identity_unknown");
  });

  test("the last way into an account stays", async () => {
    const { browser, person } = await known();
    const own = "/api/v1/users/current/identities";
    const [identity] = (await browser.get(own)).body.identities;

    expect((await browser.post(`${own}/${identity.id}/remove`, {})).body).toMatchObject({
      status: 409,
      code: "last_way_in",
    });
    expect((await signIn(person)).answer.status).toBe(200);
  });

  test("SEC-6 a disabled account gets in by no door", async () => {
    const { person, user, browser } = await known();
    await owner.post(`/api/v1/users/${user.id}/disable`);

    const { answer } = await signIn(person);

    expect(answer.body).toMatchObject({ status: 403, code: "identity_refused" });
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect((await browser.get("/api/v1/sessions/current")).status).toBe(401);
  });
});

describe("F-D5 a login at a provider and the second factor of the account", () => {
  /** Somebody with an identity, a password and a second factor, right after the provider vouched for them. */
  async function vouched() {
    people += 1;
    const local = await join(server, owner, { login: `both-${people}`, role: "operator" });
    const person = { subject: `both ${people}`, name: `both-${people}` };
    const begun = await begin(local.browser, "link", { password: local.password });
    await finish(local.browser, {
      loginToken: begun.body.loginToken,
      query: await provider.signIn(begun.body.url, person),
    });
    const secret = await switchFactorOn(local.browser, local.password);
    nowMs += 30_000;
    const { answer, browser } = await signIn(person);
    const confirm = (code: string, token = answer.body.loginToken) =>
      browser.post("/api/v1/sessions/oidc/second-factor", { loginToken: token, code });
    return { ...local, person, secret, answer, fresh: browser, confirm };
  }

  test("the provider alone opens nothing: the code comes behind it, once", async () => {
    const { answer, fresh, secret, confirm, userId } = await vouched();
    const early = await fresh.get("/api/v1/sessions/current");

    const wrong = await confirm("000000" === codeAt(secret) ? "111111" : "000000");
    const done = await confirm(codeAt(secret));
    nowMs += 30_000;
    const replayed = await confirm(codeAt(secret));

    expect(answer.body).toMatchObject({ status: 401, code: "second_factor_next" });
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(early.status).toBe(401);
    expect(wrong.body).toMatchObject({ status: 401, code: "second_factor_wrong" });
    expect(done.body.user.id).toBe(userId);
    expect((await fresh.get("/api/v1/sessions/current")).status).toBe(200);
    expect(replayed.body.code).toBe("login_ended");
    const logins = (await auditOf(server, "sessions.login")).filter(({ object_id }) => object_id === userId);
    expect(logins.at(-1)?.["after"]).toMatchObject({ secondFactor: "totp", provider: "Test ID" });
  });

  test("SEC-7 its codes are guessed no more often than those at the password", async () => {
    const { secret, confirm } = await vouched();
    const good = codeAt(secret);
    const bad = ["111111", "222222", "333333", "444444", "555555", "666666", "777777"].filter((code) => code !== good);
    const answers = [];
    for (const code of bad) answers.push(await confirm(code));

    expect(answers.at(-1)?.body).toMatchObject({ status: 429, code: "rate_limited" });
    expect((await confirm(good)).status).toBe(429);
  });

  test("what happens between the two steps counts: too late, switched off, disabled, unlinked, forged", async () => {
    const late = await vouched();
    nowMs += 6 * 60_000;
    const tooLate = await late.confirm(codeAt(late.secret));
    const off = await vouched();
    await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { isEnabled: false });
    const switchedOff = await off.confirm(codeAt(off.secret));
    await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { isEnabled: true });
    const shut = await vouched();
    await owner.post(`/api/v1/users/${shut.userId}/disable`);
    const disabled = await shut.confirm(codeAt(shut.secret));
    const gone = await vouched();
    const own = "/api/v1/users/current/identities";
    const [identity] = (await gone.browser.get(own)).body.identities;
    await gone.browser.post(`${own}/${identity.id}/remove`, { password: gone.password });
    const unlinked = await gone.confirm(codeAt(gone.secret));
    const begun = await begin(createRestClient(server.url));
    const forged = await gone.confirm("123456", begun.body.loginToken);

    expect(tooLate.body.code).toBe("login_ended");
    expect(switchedOff.status).toBe(404);
    expect(disabled.body.code).toBe("identity_refused");
    expect(unlinked.body.code).toBe("login_ended");
    expect(forged.body.code).toBe("login_ended");
  });
});

/** Switches the second factor of an account on. */
async function switchFactorOn(browser: RestClient, password: string): Promise<string> {
  const begun = await browser.post("/api/v1/users/current/totp", { password });
  const secret: string = begun.body.secret;
  const confirmed = await browser.post("/api/v1/users/current/totp/confirm", { code: codeAt(secret) });
  expect(confirmed.status).toBe(200);
  return secret;
}

function codeAt(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: nowMs });
}

describe("trouble at the provider", () => {
  test.each([
    ["is down", () => ({ status: 503, body: "{}" })],
    ["answers with rubbish", () => ({ status: 200, body: "<html>" })],
    ["calls itself by another name", () => ({ status: 200, body: JSON.stringify({ issuer: "https://evil.example" }) })],
  ] as const)(
    "CP-82 a provider that %s is 502 with its own code, never 401; the local owner gets in",
    async (_, fault) => {
      provider.breakWith(fault);

      const begun = await begin(createRestClient(server.url));
      const local = await createRestClient(server.url).post("/api/v1/sessions", {
        login: "olga",
        password: "correct horse",
      });

      expect(begun.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
      expect(local.status).toBe(201);
    },
  );

  test("CP-82 one that nobody listens at is 502 as well", async () => {
    const gone = await owner.post("/api/v1/identity-providers", {
      name: "Gone",
      issuer: "http://127.0.0.1:1",
      clientId: "x",
    });

    const begun = await createRestClient(server.url).post(`/api/v1/identity-providers/${gone.body.id}/logins`, {});

    expect(begun.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
    expect(begun.body.detail).toContain("cannot be reached");
    await owner.call("DELETE", `/api/v1/identity-providers/${gone.body.id}`);
  });

  test("CP-82 one that breaks between the two steps is 502 too, and the login can be begun again", async () => {
    const { person } = await known();
    const browser = createRestClient(server.url);
    const begun = await begin(browser);
    const query = await provider.signIn(begun.body.url, person);
    provider.breakWith((path) => (path === "/token" ? { status: 500, body: "{}" } : undefined));

    const broken = await finish(browser, { loginToken: begun.body.loginToken, query });
    provider.breakWith(undefined);

    expect(broken.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
    expect((await signIn(person)).answer.status).toBe(200);
  });

  test("SEC-33 an ID token signed with another key is refused", async () => {
    const { person } = await known();
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "test", alg: "RS256", use: "sig" };
    const browser = createRestClient(server.url);
    const begun = await begin(browser);
    const query = await provider.signIn(begun.body.url, person);
    provider.breakWith((path) =>
      path === "/jwks" ? { status: 200, body: JSON.stringify({ keys: [jwk] }) } : undefined,
    );

    const answer = await finish(browser, { loginToken: begun.body.loginToken, query });

    expect(answer.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

describe("what the provider says of somebody", () => {
  /** A login whose ID token the test writes; the provider signs it. */
  async function withClaims(person: Person, change: Record<string, unknown>, algorithm?: "none") {
    const browser = createRestClient(server.url);
    const begun = await begin(browser);
    const query = await provider.signIn(begun.body.url, person);
    const seconds = Math.floor(Date.now() / 1_000);
    const nonce = new URL(begun.body.url).searchParams.get("nonce");
    const claims = { iss: provider.issuer, sub: person.subject, aud: provider.clientId, nonce };
    const times = { iat: seconds, exp: seconds + 300 };
    provider.breakWith(provider.forge({ ...claims, ...times, ...change }, algorithm));
    const answer = await finish(browser, { loginToken: begun.body.loginToken, query });
    provider.breakWith(undefined);
    return answer;
  }
  const inSeconds = (from: number) => Math.floor(Date.now() / 1_000) + from;

  test("AP-7 CP-81 a clock that runs up to a minute ahead or behind keeps nobody out, more does", async () => {
    const { person, user } = await known();

    const ahead = await withClaims(person, { iat: inSeconds(40), nbf: inSeconds(40) });
    const behind = await withClaims(person, { iat: inSeconds(-400), exp: inSeconds(-40) });
    const far = await withClaims(person, { iat: inSeconds(600), nbf: inSeconds(600) });

    expect([ahead.body.user?.id, behind.body.user?.id]).toEqual([user.id, user.id]);
    expect(far.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
  });

  test.each([
    ["for another client", { aud: "another client" }],
    ["of another issuer", { iss: "https://evil.example" }],
    ["of another login", { nonce: "another login" }],
    ["that ended", { exp: 1 }],
    ["without a subject", { sub: undefined }],
  ])("SEC-33 an ID token %s opens nothing", async (_, change) => {
    const { person } = await known();

    const answer = await withClaims(person, change);

    expect(answer.body).toMatchObject({ status: 502, code: "identity_provider_failed" });
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("SEC-33 an unsigned ID token opens nothing", async () => {
    const { person } = await known();

    expect((await withClaims(person, {}, "none")).status).toBe(502);
  });

  test("CP-44 however many groups the provider names, the login costs the same few statements", async () => {
    const { person } = await known();
    const countOnce = async (change: Record<string, unknown>) => {
      server.takeStatements();
      const answer = await withClaims(person, change);
      expect(answer.status).toBe(200);
      return server.takeStatements().length;
    };
    // What the server does by the clock may fall into a login, and only adds to it.
    const count = async (change: Record<string, unknown>) =>
      Math.min(await countOnce(change), await countOnce(change), await countOnce(change));

    const few = await count({ groups: ["one"] });
    const many = await count({ groups: Array.from({ length: 20_000 }, (_, place) => `group-${place}`) });

    // What the server does beside it may ask a question of its own at the same time; groups would be thousands.
    expect(few).toBeLessThan(25);
    expect(many).toBeLessThan(25);
  });
});

describe("managing providers", () => {
  test("SEC-59 a switched-off provider lets nobody in, also not in the middle of a login", async () => {
    const { person } = await known();
    const browser = createRestClient(server.url);
    const begun = await begin(browser);
    const query = await provider.signIn(begun.body.url, person);
    await owner.call("PATCH", `/api/v1/identity-providers/${id}`, { isEnabled: false });

    const late = await finish(browser, { loginToken: begun.body.loginToken, query });
    const fresh = await begin(createRestClient(server.url));
    const offered = await createRestClient(server.url).get("/api/v1/login-methods");

    expect([late.status, fresh.status]).toEqual([404, 404]);
    expect(offered.body.providers).toEqual([]);
  });

  test("SEC-53 SEC-4 the client secret is sealed in the database, and in no answer, audit event or log line", async () => {
    const listed = await owner.get("/api/v1/identity-providers");
    const { sql, dispose } = server.database.connect();
    const dump = JSON.stringify([
      await sql`select * from identity_providers`,
      await sql`select * from audit_events`,
      listed.body,
    ]);
    await dispose();

    expect(listed.body.items[0]).toMatchObject({ name: "Test ID", hasClientSecret: true });
    expect(listed.body.items[0].redirectUri).toBe(`${server.url}/login/callback`);
    for (const place of [dump, server.logText()]) expect(place).not.toContain(provider.clientSecret);
  });

  test("two providers cannot share a name; changes are in the audit log", async () => {
    const twin = await owner.post("/api/v1/identity-providers", {
      name: "test id",
      issuer: "https://id.example",
      clientId: "x",
    });

    expect(twin.body).toMatchObject({ status: 409, code: "name_taken" });
    const created = await auditOf(server, "identityProviders.create");
    expect(created.find(({ object_id }) => object_id === id)?.["after"]).toMatchObject({ name: "Test ID" });
  });
});
