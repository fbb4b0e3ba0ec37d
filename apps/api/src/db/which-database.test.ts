import { readlink } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";

test("SC-3 these tests run on the PostgreSQL that they were told to use: the embedded one, or the one outside", async () => {
  const cluster = inject("cluster");
  const database = await createTestDatabase();
  const { sql, dispose } = database.connect();

  const [told] = await sql<{ version: string; port: string }[]>`select version(), current_setting('port') as port`;
  expect(told?.version).toMatch(/^PostgreSQL \d+/);
  expect(cluster.kind).toBe(process.env["WEFT_TEST_DATABASE_URL"] ? "external" : "embedded");
  if (cluster.kind === "embedded") {
    const [process] = await sql<{ pid: string }[]>`select split_part(pg_read_file('postmaster.pid'), E'\n', 1) as pid`;
    expect(await readlink(`/proc/${process?.pid ?? ""}/cwd`)).toBe(cluster.socketFolder);
  } else {
    expect(told?.port).toBe(new URL(cluster.url).port || "5432");
  }
  await dispose();
  await database.drop();
});
