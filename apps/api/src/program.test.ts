import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRestClient, makeKey } from "./testing/rest-client.ts";
import type { Json } from "./testing/rest-client.ts";
import { connectAgent, eventually } from "./testing/simulated-agent.ts";

const root = join(import.meta.dirname, "..");
const children: ChildProcess[] = [];
let folder: string;

beforeAll(async () => {
  await promisify(execFile)("npx", ["tsc", "-b", root], { cwd: root });
  folder = await mkdtemp(join(tmpdir(), "weft-program-"));
}, 240_000);
afterAll(async () => {
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(children.map(ended));
  await rm(folder, { recursive: true, force: true });
});

describe("the built program", () => {
  test("F-F9 kill -9 of server and database loses nothing that was acknowledged, and the next start just works", async () => {
    const first = await start();
    const owner = createRestClient(first.url);
    const setup = await owner.post("/api/v1/setup", {
      login: "olga",
      password: "correct horse",
      networkName: "office",
    });
    const { key } = await makeKey(owner, setup.body.network.id);
    const agent = await connectAgent(first.url, { joinKey: key, hostname: "survivor" });
    const { peerId } = await agent.next("welcome");
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (let number = 0; ; number += 1) {
        const answer = await owner.post("/api/v1/networks", { name: `net-${number}` });
        if (answer.status === 201) acknowledged.push(answer.body.name);
      }
    })().catch(() => "the server is gone");
    await eventually("some writes", () => acknowledged.length > 5 || undefined, 60_000);

    process.kill(await databasePid(), "SIGKILL");
    first.child.kill("SIGKILL");
    await writing;
    const second = await start();
    const again = createRestClient(second.url, { cookie: owner.cookie() ?? "" });
    const { body } = await again.get("/api/v1/networks?limit=500");
    const back = await connectAgent(second.url, { identity: agent.identity, lastMap: agent.version() });

    const names = body.items.map(({ name }: Json) => name);
    expect(names).toEqual(expect.arrayContaining(["office", ...acknowledged]));
    expect((await again.get(`/api/v1/peers/${peerId}`)).body).toMatchObject({ name: "survivor" });
    expect((await back.next("welcome")).peerId).toBe(peerId);
    back.cut();
  }, 180_000);

  test("a second server on the same folder is refused with what to do", async () => {
    const child = launch();
    const { code, output } = await ended(child);

    expect(code).toBe(1);
    expect(output()).toContain("another weft server uses");
  }, 60_000);

  test("a server that was killed alone leaves its database behind, and the next one replaces it", async () => {
    const running = children.find((child) => child.exitCode === null && child.signalCode === null);
    const before = await databasePid();
    running?.kill("SIGKILL");
    await ended(running ?? launch());

    const next = await start();

    expect(await databasePid()).not.toBe(before);
    expect((await createRestClient(next.url).get("/api/v1/setup")).body.ownerExists).toBe(true);
  }, 120_000);

  test("SIGTERM ends server and database within five seconds, agents hear of it", async () => {
    const running = children.find((child) => child.exitCode === null && child.signalCode === null);
    const pid = await databasePid();
    const beganMs = Date.now();

    running?.kill("SIGTERM");
    const { code } = await ended(running ?? launch());

    expect(code).toBe(0);
    expect(Date.now() - beganMs).toBeLessThan(5_500);
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  }, 60_000);

  test("wrong environment values are named one by one", async () => {
    const child = launch({ WEFT_LISTEN: "nowhere", WEFT_RATE_LIMIT: "fast" });
    const { code, output } = await ended(child);

    expect(code).toBe(2);
    expect(output()).toContain("WEFT_LISTEN: expected host:port");
    expect(output()).toContain("WEFT_RATE_LIMIT: expected requests per second");
  });
});

function launch(environment: Record<string, string> = {}): ChildProcess & { readonly text: () => string } {
  const child = spawn(process.execPath, [join(root, "dist/main.js")], {
    cwd: folder,
    env: { PATH: process.env["PATH"], WEFT_LISTEN: "127.0.0.1:0", WEFT_DATA_DIR: join(folder, "data"), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += String(chunk)));
  return Object.assign(child, { text: () => text });
}

async function start(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = launch();
  const line = await eventually(
    `the server to listen; it said ${child.text()}`,
    () =>
      child
        .text()
        .split("\n")
        .find((entry) => entry.includes('"event":"listening"')),
    60_000,
  );
  return { child, url: JSON.parse(line).url };
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly output: () => string }> {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += String(chunk)));
  if (child.exitCode === null && child.signalCode === null) await new Promise((done) => child.once("close", done));
  return { code: child.exitCode, output: () => text };
}

async function databasePid(): Promise<number> {
  return Number((await readFile(join(folder, "data/database/cluster/postmaster.pid"), "utf8")).split("\n")[0]);
}
