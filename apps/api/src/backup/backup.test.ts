import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../app.ts";
import type { App } from "../app.ts";
import { readConfig } from "../config.ts";
import { migrate } from "../db/migrate.ts";
import { createLog } from "../log.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, makeIdentity } from "../testing/simulated-agent.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { BackupFault } from "./backup-format.ts";
import { restoreCommand } from "./restore-command.ts";
import { restoreBackup } from "./restore-backup.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let folder: string;
let file: string;
let taken: Json;
const identity = makeIdentity();
const random = (length: number) => randomBytes(length);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-backup-"));
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
  const { key } = await makeKey(owner, network.id);
  for (const one of [identity, makeIdentity()]) {
    const agent = await connectAgent(server.url, { identity: one, joinKey: key });
    await agent.until(() => true);
    agent.leave();
  }
  await owner.post("/api/v1/tokens", { name: 'ünï "quoted" \\ text', scopes: ["audit:read"] });
  taken = (await owner.post("/api/v1/backups")).body;
  file = join(folder, "good.weft-backup");
  await writeFile(file, await download(taken.id));
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function download(id: string): Promise<Buffer> {
  const answer = await fetch(`${server.url}/api/v1/backups/${id}/content`, {
    headers: { cookie: owner.cookie() ?? "" },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${id}.weft-backup"`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Starts a server on a restored database. */
async function startOn(
  database: TestDatabase,
  dataFolder: string,
  kind: "embedded" | "external",
): Promise<App & { url: string }> {
  const app = await createApp({
    config: readConfig({
      WEFT_DATA_DIR: dataFolder,
      WEFT_LISTEN: "127.0.0.1:0",
      WEFT_WEB_DIR: join(dataFolder, "no-web"),
    }),
    log: createLog("silent"),
    lagMs: () => 0,
    open: async () => {
      const connected = database.connect();
      await migrate(connected.sql);
      return { ...connected, kind, lost: new Promise(() => undefined) };
    },
  });
  await app.server.listen({ host: "127.0.0.1", port: 0 });
  const bound = app.server.server.address();
  if (typeof bound !== "object" || bound === null) throw new Error("a listening server has an address");
  return { ...app, url: `http://127.0.0.1:${bound.port}` };
}

describe.each(["embedded", "external"] as const)("SC-12 F-F6 restored where the database is %s", (kind) => {
  test("everything is there, the session still holds, and a node that pins the key gets a map of a new epoch", async () => {
    const database = await createTestDatabase();
    const dataFolder = await mkdtemp(join(folder, "data-"));
    const connection = database.connect();
    const report = await restoreBackup(file, { database: connection, kind, dataFolder, random });
    await connection.dispose();
    const restored = await startOn(database, dataFolder, kind);
    const client = createRestClient(restored.url, { cookie: owner.cookie() ?? "" });
    const peersOf = async (of: RestClient) =>
      (await of.get(`/api/v1/networks/${network.id}/peers`)).body.items.map(({ id, name, ipv4, publicKey }: Json) => ({
        id,
        name,
        ipv4,
        publicKey,
      }));
    const old = await connectAgent(server.url, { identity });
    await old.until(() => true);

    const agent = await connectAgent(restored.url, { identity, lastMap: old.version() });
    const map = await agent.until(() => true);

    expect(report.tables["peers"]?.rows).toBe(2);
    expect(report.samples).toBe(1);
    expect(await peersOf(client)).toEqual(await peersOf(owner));
    expect(map.peers).toHaveLength(1);
    expect(agent.challenge().serverKey).toBe(old.challenge().serverKey);
    expect(agent.version().epoch).not.toBe(old.version().epoch);
    expect((await client.get("/api/v1/tokens?q=quoted")).body.items[0].name).toBe('ünï "quoted" \\ text');
    old.leave();
    agent.leave();
    await restored.dispose();
    await database.drop();
  });
});

test("F-F6 the command fills an empty data folder with a database of its own", async () => {
  const dataFolder = await mkdtemp(join(folder, "own-"));
  const lines: string[] = [];
  const say = {
    line: (text: string) => void lines.push(text),
    fault: (text: string) => void lines.push(`fault: ${text}`),
  };

  const first = await restoreCommand([file], { dataFolder, databaseUrl: undefined }, say);
  const second = await restoreCommand([file], { dataFolder, databaseUrl: undefined }, say);

  expect(lines[1]).toMatch(/^fault: the database is not empty/);
  expect([first, second]).toEqual([0, 3]);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ takenAt: taken.createdAt, samples: 1 });
  expect(await readFile(join(dataFolder, "server-key.pem"), "utf8")).toContain("PRIVATE KEY");
}, 120_000);

describe("F-G11 a backup", () => {
  test("is taken while changes go on, and proves itself", async () => {
    const over = new AbortController();
    const busy = (async () => {
      for (let index = 0; !over.signal.aborted; index += 1) {
        const made = await owner.post("/api/v1/networks", { name: `busy ${index}` });
        await owner.call("DELETE", `/api/v1/networks/${made.body.id}`);
      }
    })();
    const made = await owner.post("/api/v1/backups");
    over.abort();
    await busy;

    const verified = await owner.post(`/api/v1/backups/${made.body.id}/verify`);

    expect(made.status).toBe(201);
    expect(verified.status).toBe(200);
    expect(verified.body.verifiedAt).not.toBeNull();
    expect((await owner.get("/api/v1/backups?count=true")).body.total).toBeGreaterThan(1);
  });

  test("is gone with its file, and then unknown", async () => {
    const made = await owner.post("/api/v1/backups");
    const path = `/api/v1/backups/${made.body.id}`;

    expect((await owner.call("DELETE", path)).status).toBe(204);
    expect((await owner.get(path)).status).toBe(404);
    expect((await owner.get(`${path}/content`)).status).toBe(404);
  });

  test("is handed to the owner alone, and that is noted", async () => {
    const [event] = (await owner.get(`/api/v1/audit-events?action=backups.download`)).body.items;

    expect(event).toMatchObject({ objectId: taken.id, actor: { login: "olga" } });
    expect((await createRestClient(server.url).get(`/api/v1/backups/${taken.id}/content`)).status).toBe(401);
  });
});

describe("a file that is no good changes nothing", () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createTestDatabase()));
  afterAll(() => database.drop());

  const restore = async (bytes: Uint8Array) => {
    const path = join(folder, "bad.weft-backup");
    await writeFile(path, bytes);
    const connection = database.connect();
    const target = { database: connection, kind: "external", dataFolder: folder, random } as const;
    const outcome = await restoreBackup(path, target).catch((error: unknown) => error);
    const [tables] = await connection.sql`select count(*)::int as peers from pg_tables where tablename = 'peers'`;
    const rows = tables?.["peers"] === 0 ? 0 : (await connection.sql`select * from peers`).length;
    await connection.dispose();
    expect(rows).toBe(0);
    return outcome;
  };
  const changed = (change: (text: string) => string) => async () =>
    gzipSync(change(gunzipSync(await readFile(file)).toString()));

  test.each([
    {
      name: "cut short",
      make: async () => (await readFile(file)).subarray(0, -200),
      says: /cannot be read|ends in the middle/,
    },
    { name: "without its end", make: changed((text) => text.replace(/\nE.*\n$/, "\n")), says: /ends in the middle/ },
    {
      name: "with another name in it",
      make: changed((text) => text.replace('"office"', '"offica"')),
      says: /was changed/,
    },
    {
      name: "without a row",
      make: changed((text) => text.replace(/\nTpeers\nR[^\n]*\n/, "\nTpeers\n")),
      says: /was changed/,
    },
    {
      name: "of another format",
      make: changed((text) => text.replace('"format":1', '"format":2')),
      says: /newer release/,
    },
    { name: "that is text", make: async () => Buffer.from("hello"), says: /cannot be read/ },
    { name: "that is another gzip", make: async () => gzipSync("hello\n"), says: /no backup of weft/ },
    { name: "that is empty", make: async () => Buffer.alloc(0), says: /ends in the middle|cannot be read/ },
    {
      name: "of a newer release",
      make: changed((text) =>
        text.replace(/"migrations":\[\{/, '"migrations":[{"index":0,"tag":"0000_future","hash":"x"},{'),
      ),
      says: /does not have|was changed/,
    },
  ])("$name", async ({ make, says }) => {
    const outcome = await restore(await make());

    expect(outcome).toBeInstanceOf(BackupFault);
    expect(String(outcome)).toMatch(says);
  });

  test("a file in the way of verify is told as a fault, not as a failure of ours", async () => {
    const made = await owner.post("/api/v1/backups");
    await writeFile(server.app.deps.backups.pathOf(made.body.id), "broken");

    const answer = await owner.post(`/api/v1/backups/${made.body.id}/verify`);

    expect(answer.body).toMatchObject({ status: 422, code: "backup_faulty" });
  });
});
