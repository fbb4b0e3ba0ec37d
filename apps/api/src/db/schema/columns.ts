import { sql } from "drizzle-orm";
import { bigint, text, timestamp } from "drizzle-orm/pg-core";

/** A moment; read as `Date`. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: "date" });

/** When the row was made. */
export const createdAt = () => moment("created_at").notNull().defaultNow();

/** A 64-bit number; read as `bigint`. */
export const wide = (name: string) => bigint(name, { mode: "bigint" });

/** Ids of the groups that a row belongs to, sorted; changed under the lock of the network only. */
export const groupIdsColumn = () =>
  text("group_ids")
    .array()
    .notNull()
    .default(sql`'{}'`);

/** An id of ours, see `@weft/protocol` ids. */
export const idColumn = (name = "id") => text(name);
