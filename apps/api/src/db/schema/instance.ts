import { boolean, check, pgTable, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { createdAt, moment } from "./columns.ts";

/** What belongs to the whole server; exactly one row. */
export const instance = pgTable(
  "instance",
  {
    only: boolean("only").primaryKey().default(true),
    /** Ed25519 private key in PEM; with the embedded database it lives in a file beside it instead. */
    serverPrivateKey: text("server_private_key"),
    /** Signs list cursors, base64. */
    cursorKey: text("cursor_key").notNull(),
    /** Which history of this database the epochs of all networks belong to. */
    historyMark: text("history_mark"),
    /** Until when the bootstrap token of the first start counts; null: there was none. */
    bootstrapUntil: moment("bootstrap_until"),
    bootstrapUsedAt: moment("bootstrap_used_at"),
    createdAt: createdAt(),
  },
  (table) => [check("instance_is_single", sql`${table.only}`)],
);
