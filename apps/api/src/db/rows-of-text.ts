import { sql } from "drizzle-orm";

/** A column of values as one parameter, for statements about many rows. */
export function textArray(values: readonly string[]) {
  return sql`${sql.param([...values])}::text[]`;
}
