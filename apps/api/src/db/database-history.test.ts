import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import { connectDatabase } from "./client.ts";
import type { Database } from "./client.ts";
import { renewLostHistory } from "./database-history.ts";
import { startEmbeddedDatabase } from "./embedded/embedded-database.ts";
import { keepInstanceSecrets } from "./instance-repository.ts";
import { migrate } from "./migrate.ts";

test("AP-21 CP-1 a dump that was restored and climbs to the sequence a node knows is another history to it", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const joinKey = (await makeKey(owner, network.id)).key;
  const agent = await connectAgent(server.url, { joinKey });
  await agent.until(() => true);
  const database = server.database.connect();
  const dump = await dumpAll(database);
  const lost = await connectAgent(server.url, { joinKey, hostname: "lost" });
  await agent.until((map) => map.peers.some(({ name }) => name === "lost"));
  const known = agent.version();

  // A restore is made while no server runs.
  await server.app.dispose();
  await restoreAll(database, dump);
  const restored = await server.restart();
  const other = await connectAgent(restored.url, { joinKey, hostname: "other" });
  await other.until(() => true);
  const back = await connectAgent(restored.url, { identity: agent.identity, lastMap: known });

  const welcome = await back.next("welcome");
  const map = await back.until(() => true);
  expect(other.version().sequence).toBe(known.sequence);
  expect(welcome).toMatchObject({ mode: "snapshot" });
  expect(welcome.epoch).not.toBe(known.epoch);
  expect(map.peers.map(({ name }) => name)).toEqual(["other"]);
  for (const open of [agent, lost, other, back]) open.cut();
  await database.dispose();
  await restored.dispose();
});

test("a copy of the data folder that is put back is another history, a second look at the same one is not", async () => {
  const [place, copy] = await Promise.all([makeFolder(), makeFolder()]);
  const first = await look(place);
  // With owners: the embedded database runs under a user of its own when we are root.
  await promisify(execFile)("cp", ["-a", `${place}/.`, copy]);
  const second = await look(copy);

  expect(first).toEqual(["renewed", "same"]);
  expect(second).toEqual(["renewed", "same"]);
  for (const folder of [place, copy]) await rm(folder, { recursive: true, force: true });
});

function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "weft-history-"));
}

/** Starts the database there and looks twice. */
async function look(folder: string): Promise<readonly string[]> {
  const embedded = await startEmbeddedDatabase(folder);
  const database = connectDatabase({ kind: "embedded", ...embedded.connection, database: "postgres" });
  await migrate(database.sql);
  await keepInstanceSecrets(database.db, { serverPrivateKey: null, cursorKey: "key" });
  const random = (length: number) => randomBytes(length);
  const found = [await renewLostHistory(database.db, random), await renewLostHistory(database.db, random)];
  await database.dispose();
  await embedded.dispose();
  return found;
}

type Dump = readonly { readonly table: string; readonly rows: string }[];

async function dumpAll({ sql }: Database): Promise<Dump> {
  const tables = await sql`select tablename from pg_tables where schemaname = 'public'`;
  return Promise.all(
    tables.map(async ({ tablename }) => {
      const [found] = await sql.unsafe<{ rows: string }[]>(
        `select coalesce(json_agg(row), '[]')::text as rows from ${tablename} row`,
      );
      return { table: String(tablename), rows: found?.rows ?? "[]" };
    }),
  );
}

/** As a restore does it: everything away, then every row anew, without its constraints. */
async function restoreAll({ sql }: Database, dump: Dump): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local session_replication_role = replica`);
    await tx.unsafe(`truncate ${dump.map(({ table }) => table).join(", ")}`);
    for (const { table, rows } of dump) {
      await tx.unsafe(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::text::json)`, [
        rows,
      ]);
    }
  });
}
