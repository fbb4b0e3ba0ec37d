import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { RestClient } from "../testing/rest-client.ts";

const ARCHIVE = "/agent/weft-agent-linux-x64.tar.gz";
let server: TestApp;
let owner: RestClient;
let networkId: string;
let folder: string;
const content = randomBytes(300_000);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-release-"));
  server = await createTestApp({ environment: { WEFT_AGENT_DIR: folder } });
  const made = await setUp(server.url);
  owner = made.owner;
  networkId = made.network.id;
});
beforeEach(async () => {
  await put("install.sh", "URL='@SERVER_URL@'\nARCHIVES='@ARCHIVES@'\n");
  await put("weft-agent-linux-x64.tar.gz", content);
  await put("secret.txt", "outside of the set");
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true });
});

test("the install script names this server and the digest of its archive, and holds no secret", async () => {
  const answer = await fetch(`${server.url}/install.sh`);

  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toContain("text/x-shellscript");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.text()).toBe(`URL='${server.url}'\nARCHIVES='x64 ${sha256(content)}'\n`);
});

test("the join line carries the digest of exactly the script that its address serves", async () => {
  const made = await makeKey(owner, networkId);

  const script = await (await fetch(`${server.url}/install.sh`)).text();

  expect(made.joinLine).toContain(`${sha256(script)} *$f`);
  expect(made.joinLine).toMatch(new RegExp(`^f=\\$\\(mktemp\\) && curl -fsS ${server.url}/install\\.sh `));
  expect(made.joinLine.endsWith(` && sh "$f" ${made.key}`)).toBe(true);
  expect(made.joinCommand).toBe(`weft join ${server.url} ${made.key}`);
});

test("the archive comes whole, with its length, and may be kept for ever under its digest", async () => {
  const answer = await fetch(`${server.url}${ARCHIVE}?sha256=${sha256(content)}`);

  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-length")).toBe(String(content.length));
  expect(answer.headers.get("cache-control")).toContain("immutable");
  expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
});

test("without a digest nobody keeps it", async () => {
  const answer = await fetch(`${server.url}${ARCHIVE}`, { method: "HEAD" });

  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-length")).toBe(String(content.length));
  expect(answer.headers.get("cache-control")).toBe("no-cache");
});

test("an archive that was built anew is noticed, and its old digest leads nowhere", async () => {
  const before = await (await fetch(`${server.url}/install.sh`)).text();

  await put("weft-agent-linux-x64.tar.gz", randomBytes(1_000));
  const after = await (await fetch(`${server.url}/install.sh`)).text();
  const old = await fetch(`${server.url}${ARCHIVE}?sha256=${sha256(content)}`);

  expect(after).not.toBe(before);
  expect(old.status).toBe(404);
  expect(await old.json()).toMatchObject({ code: "not_found", detail: expect.stringContaining("new join line") });
});

test.each([
  "/agent/weft-agent-linux-arm64.tar.gz",
  "/agent/secret.txt",
  "/agent/..%2f..%2fetc%2fpasswd",
  "/agent/weft-agent-linux-../secret.txt",
])("%s does not exist", async (path) => {
  const answer = await fetch(`${server.url}${path}`);

  expect(answer.status).toBe(404);
  expect(answer.headers.get("content-type")).toContain("application/problem+json");
});

test.each(["weft'; reboot; '", "$(reboot)", "a b"])("a host header like %s makes no script", async (host) => {
  const answer = await server.app.server.inject({ method: "GET", url: "/install.sh", headers: { host } });

  expect(answer.statusCode).not.toBe(200);
  expect(answer.body).not.toContain("URL=");
});

test("a server without an archive says how to get one, and its join line is for hosts that have the agent", async () => {
  await rm(join(folder, "weft-agent-linux-x64.tar.gz"));

  const answers = await Promise.all(["/install.sh", ARCHIVE].map((path) => fetch(`${server.url}${path}`)));
  const made = await makeKey(createRestClient(server.url, { cookie: owner.cookie() ?? "" }), networkId);

  for (const answer of answers) {
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not_found", detail: expect.stringContaining("npm run build") });
  }
  expect(made.joinLine).toBe(`weft join ${server.url} ${made.key}`);
});

/** Puts a file in place the way a build does. */
async function put(name: string, bytes: string | Buffer): Promise<void> {
  await writeFile(join(folder, `${name}.new`), bytes);
  await rename(join(folder, `${name}.new`), join(folder, name));
}

function sha256(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
