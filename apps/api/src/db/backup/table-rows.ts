import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Executor } from "../client.ts";

export type TableDigest = { readonly rows: number; readonly sha256: string };

/** Reads every row of a table as JSON text, always in the same order, a few at a time. */
export async function readRows(
  tx: Executor,
  table: string,
  onRow: (row: string) => Promise<void> | void,
): Promise<TableDigest> {
  const hash = createHash("sha256");
  let rows = 0;
  const text = sql`to_jsonb(found)::text`;
  await tx.execute(sql`set local timezone = 'UTC'`);
  await tx.execute(sql`declare backup_rows no scroll cursor for
    select ${text} as line from ${sql.identifier(table)} found order by ${text} collate "C"`);
  for (;;) {
    const found = z.array(RowSchema).parse([...(await tx.execute(sql`fetch 500 from backup_rows`))]);
    if (found.length === 0) break;
    for (const { line } of found) {
      rows += 1;
      hash.update(line).update("\n");
      await onRow(line);
    }
  }
  await tx.execute(sql`close backup_rows`);
  return { rows, sha256: hash.digest("hex") };
}

/** Puts rows into a table. */
export async function insertRows(tx: Executor, table: string, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  const name = sql.identifier(table);
  await tx.execute(sql`insert into ${name}
    select * from jsonb_populate_recordset(null::${name}, ${`[${rows.join(",")}]`}::jsonb)`);
}

/** Whether a table has any row. */
export async function hasRows(tx: Executor, table: string): Promise<boolean> {
  const [row] = await tx.execute(sql`select exists (select from ${sql.identifier(table)}) as found`);
  return FoundSchema.parse(row).found;
}

/** Puts an empty table of the same shape before the real one; it exists for this transaction only. */
export async function shadowTable(tx: Executor, table: string): Promise<void> {
  const name = sql.identifier(table);
  await tx.execute(sql`create temporary table ${name} (like public.${name} including all) on commit drop`);
}

/** Tables of the schema, referred-to ones first. */
export async function tablesInOrder(tx: Executor): Promise<readonly string[]> {
  const tables = z
    .array(NameSchema)
    .parse([
      ...(await tx.execute(
        sql`select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
      )),
    ]);
  const edges = z.array(EdgeSchema).parse([
    ...(await tx.execute(sql`
      select source.relname as "from", target.relname as "to"
      from pg_constraint c join pg_class source on source.oid = c.conrelid join pg_class target on target.oid = c.confrelid
      where c.contype = 'f' and c.conrelid <> c.confrelid`)),
  ]);
  const order: string[] = [];
  const place = (table: string, path: readonly string[]) => {
    if (order.includes(table)) return;
    if (path.includes(table))
      throw new Error(`tables refer to each other in a circle: ${[...path, table].join(" → ")}`);
    for (const { to } of edges.filter((edge) => edge.from === table)) place(to, [...path, table]);
    order.push(table);
  };
  for (const { name } of tables) place(name, []);
  return order;
}

const RowSchema = z.object({ line: z.string() });
const FoundSchema = z.object({ found: z.boolean() });
const NameSchema = z.object({ name: z.string() });
const EdgeSchema = z.object({ from: z.string(), to: z.string() });
