import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, setUp } from "../testing/rest-client.ts";
import type { RestClient } from "../testing/rest-client.ts";
import { ARGON2, createPasswords } from "../registry/passwords.ts";

let folder: string;
let server: TestApp;
let owner: RestClient;
let nowMs = Date.now();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-web-"));
  const web = join(folder, "web");
  await mkdir(join(web, "assets"), { recursive: true });
  await writeFile(join(web, "index.html"), "<!doctype html><title>weft</title>");
  await writeFile(join(web, "assets/app-0123.js"), "export {};");
  await writeFile(join(web, "assets/large-4567.js"), LARGE_SCRIPT);
  await writeFile(join(folder, "weft-secret.txt"), "outside");
  server = await createTestApp({ environment: { WEFT_WEB_DIR: web }, clock: { nowMs: () => nowMs } });
  ({ owner } = await setUp(server.url));
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

test("F-D2 SEC-38 the first-run page closes for good after the first owner", async () => {
  const stranger = createRestClient(server.url);

  const again = await stranger.post("/api/v1/setup", { login: "eve", password: "0123456789", networkName: "mine" });

  expect(again.body).toMatchObject({ status: 409, code: "owner_exists" });
  expect((await stranger.get("/api/v1/setup")).body).toMatchObject({ ownerExists: true });
});

test("SEC-9 the cookie is HttpOnly and SameSite=Strict, new at each login, and ends with the logout", async () => {
  const browser = createRestClient(server.url, { cookie: "weft_session=chosen-by-somebody-else" });

  const login = await browser.post("/api/v1/sessions", { login: "OLGA", password: "correct horse" });
  const cookie = login.headers.get("set-cookie") ?? "";
  const session = browser.cookie() ?? "";
  await browser.call("DELETE", "/api/v1/sessions/current");

  expect(login.status).toBe(201);
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toContain("chosen-by-somebody-else");
  const stolen = createRestClient(server.url, { cookie: session });
  expect((await stolen.get("/api/v1/sessions/current")).status).toBe(401);
});

test("SEC-9 behind a TLS proxy the cookie is Secure", async () => {
  const setupToken = "a-fixed-setup-token";
  const secure = await createTestApp({
    environment: { WEFT_PUBLIC_URL: "https://weft.example.org", WEFT_SETUP_TOKEN: setupToken },
  });
  const body = { login: "olga", password: "correct horse", networkName: "office", setupToken };

  const answer = await createRestClient(secure.url).post("/api/v1/setup", body);

  expect(answer.headers.get("set-cookie")).toMatch(/; Secure;/);
  await secure.dispose();
});

test("SEC-10 a change from a foreign page fails, also before anybody is signed in", async () => {
  const path = "/api/v1/networks";
  const foreign = await owner.call("POST", path, { name: "evil" }, { origin: "https://evil.example" });
  const odd = await owner.call("POST", path, { name: "evil" }, { origin: "null" });
  const login = await createRestClient(server.url).call(
    "POST",
    "/api/v1/sessions",
    { login: "olga", password: "correct horse" },
    { origin: "https://evil.example" },
  );
  const trpc = await owner.call("POST", "/trpc/networks.create", { name: "evil" }, { origin: "https://evil.example" });
  const unproven = await fetch(server.url + path, {
    method: "POST",
    headers: { cookie: owner.cookie() ?? "", "content-type": "application/json" },
    body: `{"name":"x"}`,
  });

  for (const { body } of [foreign, odd, login, trpc]) expect(body).toMatchObject({ status: 403, code: "cross_origin" });
  expect(unproven.status).toBe(403);
});

test("SEC-16 a preflight from a foreign origin gets no permission", async () => {
  const answer = await owner.call("OPTIONS", "/api/v1/networks", undefined, {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
  });

  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test.each(["/", "/networks/some/page", "/api/v1/docs"])(
  "SEC-11 SEC-51 the headers of %s keep it unframed and closed",
  async (path) => {
    const { status, headers } = await owner.get(path);

    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("content-security-policy")).not.toMatch(/script-src[^;]*unsafe/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-frame-options")).toBe("DENY");
  },
);

test.each(["/../weft-secret.txt", "/assets/..%2f..%2fweft-secret.txt", "/%2e%2e/weft-secret.txt", "/assets/none.js"])(
  "SEC-58 %s is not a file of the dashboard",
  async (path) => {
    expect((await owner.get(path)).status).toBe(404);
  },
);

test("assets with a hash in their name are immutable, the page is checked each time", async () => {
  const asset = await owner.get("/assets/app-0123.js");
  const page = await owner.get("/");
  const again = await owner.call("GET", "/", undefined, { "if-none-match": page.headers.get("etag") ?? "" });

  expect(asset.headers.get("cache-control")).toContain("immutable");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(again.status).toBe(304);
});

test("assets travel compressed where that is smaller, each variant under its own tag", async () => {
  const ask = (path: string, headers: Record<string, string>) => owner.call("GET", path, undefined, headers);
  const script = "/assets/large-4567.js";
  const brotli = await ask(script, { "accept-encoding": "gzip, br" });
  const gzip = await ask(script, { "accept-encoding": "gzip" });
  const plain = await ask(script, { "accept-encoding": "identity" });
  const small = await ask("/assets/app-0123.js", { "accept-encoding": "gzip, br" });
  const tags = [brotli, gzip, plain].map(({ headers }) => headers.get("etag") ?? "");
  const known = await ask(script, { "accept-encoding": "gzip", "if-none-match": `"other", ${tags[1]}` });
  const unlike = await ask(script, { "accept-encoding": "gzip", "if-none-match": tags[0] ?? "" });

  expect([brotli, gzip, plain].map(({ headers }) => headers.get("content-encoding"))).toEqual(["br", "gzip", null]);
  for (const answer of [brotli, gzip, plain]) expect(answer.body).toBe(LARGE_SCRIPT);
  expect(Number(brotli.headers.get("content-length"))).toBeLessThan(LARGE_SCRIPT.length / 10);
  expect(new Set(tags).size).toBe(3);
  expect(brotli.headers.get("vary")).toBe("accept-encoding");
  expect(small.headers.get("content-encoding")).toBeNull();
  expect(known.status).toBe(304);
  expect(unlike.status).toBe(200);
});

test("SEC-7 guessing is slowed down; the right password during the wait fails too; both recover", async () => {
  const guess = (password: string) =>
    createRestClient(server.url).post("/api/v1/sessions", { login: "olga", password });
  const answers = [];
  for (let attempt = 0; attempt < 8; attempt += 1) answers.push(await guess(`wrong-${attempt}`));

  const right = await guess("correct horse");
  const waitSeconds = Number(right.headers.get("retry-after"));
  nowMs += (waitSeconds + 1) * 1_000;
  const later = await guess("correct horse");

  expect(answers[0]?.body).toMatchObject({ status: 401, code: "login_failed" });
  expect(answers.at(-1)?.body).toMatchObject({ status: 429, code: "rate_limited" });
  expect(right.status).toBe(429);
  expect(waitSeconds).toBeGreaterThan(0);
  expect(later.status).toBe(201);
});

test("SEC-12 a forged forwarding header does not change the address of the audit", async () => {
  await createRestClient(server.url).call(
    "POST",
    "/api/v1/sessions",
    { login: "nobody", password: "x" },
    { "x-forwarded-for": "203.0.113.9" },
  );
  const { sql, dispose } = server.database.connect();

  const rows = await sql`select distinct address from audit_events`;
  await dispose();

  expect(rows.map(({ address }) => address)).toEqual(["127.0.0.1"]);
});

test("a caller behind a proxy needs the setup token even on loopback", async () => {
  const fresh = await createTestApp({ environment: { WEFT_SETUP_TOKEN: "a-fixed-setup-token" } });
  const client = createRestClient(fresh.url);
  const body = { login: "olga", password: "correct horse", networkName: "office" };
  const forwarded = { "x-forwarded-for": "203.0.113.9" };

  const status = await client.call("GET", "/api/v1/setup", undefined, forwarded);
  const refused = await client.call("POST", "/api/v1/setup", body, forwarded);
  const wrong = await client.call("POST", "/api/v1/setup", { ...body, setupToken: "guess" }, forwarded);
  const right = await client.call("POST", "/api/v1/setup", { ...body, setupToken: "a-fixed-setup-token" }, forwarded);

  expect(status.body).toEqual({ ownerExists: false, tokenRequired: true });
  expect(refused.body.code).toBe("setup_token_wrong");
  expect(wrong.body.code).toBe("setup_token_wrong");
  expect(right.status).toBe(201);
  await fresh.dispose();
});

test.each(["x-forwarded-proto", "x-real-ip", "via", "forwarded", "cf-connecting-ip", "x-client-ip", "cdn-loop"])(
  "SEC-38 one %s header is enough to ask for the setup token",
  async (name) => {
    const answer = await owner.call("GET", "/api/v1/setup", undefined, { [name]: "1" });

    expect(answer.body).toMatchObject({ tokenRequired: true });
    expect((await owner.get("/api/v1/setup")).body).toMatchObject({ tokenRequired: false });
  },
);

test.each([
  { publicUrl: "https://weft.example.org", tokenRequired: true },
  { publicUrl: "http://localhost:7400", tokenRequired: false },
])("SEC-38 behind a silent proxy on this host the public URL $publicUrl decides", async (row) => {
  const fresh = await createTestApp({ environment: { WEFT_PUBLIC_URL: row.publicUrl } });
  const client = createRestClient(fresh.url);
  const body = { login: "olga", password: "correct horse", networkName: "office" };

  const status = await client.get("/api/v1/setup");
  const claimed = await client.post("/api/v1/setup", body);

  expect(status.body).toEqual({ ownerExists: false, tokenRequired: row.tokenRequired });
  expect(claimed.status).toBe(row.tokenRequired ? 403 : 201);
  await fresh.dispose();
});

test("ten parallel set-ups make one owner", async () => {
  const fresh = await createTestApp();
  const bodies = Array.from({ length: 10 }, (_, place) => ({
    login: `user-${place}`,
    password: "correct horse",
    networkName: `net-${place}`,
  }));

  const answers = await Promise.all(bodies.map((body) => createRestClient(fresh.url).post("/api/v1/setup", body)));

  expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([
    201,
    ...Array.from({ length: 9 }, () => 409),
  ]);
  await fresh.dispose();
});

test("API-44 a credential that asks too often gets 429 with Retry-After", async () => {
  const strict = await createTestApp({ environment: { WEFT_RATE_LIMIT: "1/5" } });
  const client = createRestClient(strict.url);

  const answers = [];
  for (let call = 0; call < 8; call += 1) answers.push(await client.get("/api/v1/setup"));

  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(7);
  expect(answers.at(-1)?.body).toMatchObject({ status: 429, code: "rate_limited" });
  expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  await strict.dispose();
});

test("API-44 all addresses of one IPv6 /64 share one limit", async () => {
  const strict = await createTestApp({ environment: { WEFT_RATE_LIMIT: "1/5", WEFT_TRUST_PROXY: "true" } });
  const ask = (address: string) =>
    createRestClient(strict.url).call("GET", "/api/v1/setup", undefined, { "x-forwarded-for": address });

  const statuses = [];
  for (let host = 1; host <= 8; host += 1) statuses.push((await ask(`2001:db8:0:1::${host}`)).status);

  expect(statuses[0]).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  expect((await ask("2001:db8:0:2::1")).status).toBe(200);
  await strict.dispose();
});

test.each([
  { path: "/%61pi/v1/setup", spelling: "a path with an encoded letter" },
  { path: "/%74rpc/setup.status", spelling: "a tRPC path with an encoded letter" },
])("API-44 $spelling is the same path, with the same limit", async ({ path }) => {
  const strict = await createTestApp({ environment: { WEFT_RATE_LIMIT: "1/5" } });

  const statuses = [];
  for (let call = 0; call < 8; call += 1) statuses.push((await fetch(strict.url + path)).status);

  expect(statuses[0]).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  await strict.dispose();
});

test("API-44 a batch of more calls than the dashboard ever sends is refused", async () => {
  const batch = (calls: number) =>
    fetch(`${server.url}/trpc/${Array.from({ length: calls }, () => "setup.status").join()}?batch=1&input=%7B%7D`);

  expect((await batch(20)).status).toBe(200);
  expect((await batch(21)).status).toBe(400);
});

test("an agent that names two nonces is turned away without a fault", async () => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/agent/v1?nonce=a&nonce=b`);

  const code = await new Promise((resolve) => socket.addEventListener("close", (event) => resolve(event.code)));

  expect(code).toBe(1000);
});

test("SEC-15 passwords are hashed with argon2id at no less than the agreed cost", async () => {
  const passwords = createPasswords();

  const hash = await passwords.hash("correct horse");

  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(ARGON2).toEqual({ memoryKib: 19_456, passes: 2, lanes: 1 });
  expect(await passwords.matches(hash, "correct horse")).toBe(true);
  expect(await passwords.matches(hash, "wrong horse")).toBe(false);
  expect(await passwords.matches(undefined, "no user has this password")).toBe(false);
});

test("SEC-53 no secret is in the log", () => {
  expect(server.logText()).not.toContain("correct horse");
  expect(server.logText()).not.toContain(owner.cookie()?.split("=")[1]);
});

/** Compresses well. */
const LARGE_SCRIPT = "export const answer = 42;\n".repeat(200);
