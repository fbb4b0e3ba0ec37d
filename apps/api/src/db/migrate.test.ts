import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import type { Database } from "./client.ts";
import { migrate, MIGRATIONS_FOLDER, readMigrations } from "./migrate.ts";

let database: TestDatabase;
let connection: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  connection = database.connect();
});
afterEach(async () => {
  await connection.dispose();
  await database.drop();
});

test("SC-11 servers that start at once apply each step once", async () => {
  const others = [database.connect(), database.connect(), database.connect()];

  const results = await Promise.all([connection, ...others].map(({ sql }) => migrate(sql)));
  await Promise.all(others.map(({ dispose }) => dispose()));

  const steps = (await readMigrations()).length;
  expect(results.map(({ applied }) => applied).toSorted((left, right) => left - right)).toEqual([0, 0, 0, steps]);
  expect(await migrate(connection.sql)).toEqual({ applied: 0 });
});

test("a newer schema is refused with what to do", async () => {
  await migrate(connection.sql);
  await connection.sql`insert into weft_migrations (index, tag, hash, finished_at) values (999, '0999_future', 'x', now())`;

  await expect(migrate(connection.sql)).rejects.toThrow(/0999_future, which this release does not know.*newer release/);
});

test("a half-finished step is refused with its name", async () => {
  await migrate(connection.sql);
  await connection.sql`update weft_migrations set finished_at = null`;

  await expect(migrate(connection.sql)).rejects.toThrow(
    /0000_initial was started but not finished; restore the backup/,
  );
});

test("a step that was changed after it ran is refused", async () => {
  await migrate(connection.sql);
  await connection.sql`update weft_migrations set hash = 'other'`;

  await expect(migrate(connection.sql)).rejects.toThrow(/differs from this release's/);
});

test("a database that holds something else is left alone", async () => {
  await connection.sql`create table invoices (id int)`;

  await expect(migrate(connection.sql)).rejects.toThrow(/not empty and not weft's/);
  expect(await connection.sql`select tablename from pg_tables where schemaname = 'public'`).toHaveLength(1);
});

test("a step that fails leaves nothing behind, and the next start tries again", async () => {
  const folder = await temporaryFolder();
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
  const journal = JSON.parse(await readFile(join(folder, "meta/_journal.json"), "utf8"));
  journal.entries.push({ idx: journal.entries.length, tag: "0777_broken" });
  await writeFile(join(folder, "meta/_journal.json"), JSON.stringify(journal));
  await writeFile(join(folder, "0777_broken.sql"), "create table extra (id int); select no_such_function();");

  await expect(migrate(connection.sql, folder)).rejects.toThrow(/no_such_function/);
  const tables = await connection.sql`select 1 from pg_tables where schemaname = 'public'`;

  expect(tables).toHaveLength(0);
  expect((await migrate(connection.sql)).applied).toBeGreaterThan(0);
});
