import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Executor } from "../client.ts";
import type { Migration } from "../migrate.ts";

/** Steps that made this database's schema, in order. */
export async function appliedMigrations(tx: Executor): Promise<Omit<Migration, "sql">[]> {
  const rows = await tx.execute(sql`select index, tag, hash from weft_migrations order by index`);
  return z.array(StepSchema).parse([...rows]);
}

const StepSchema = z.object({ index: z.int(), tag: z.string(), hash: z.string() });
