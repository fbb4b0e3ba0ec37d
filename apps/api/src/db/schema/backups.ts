import { bigint, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";
import { users } from "./users.ts";

/** Backups that lie in the server's backup folder. */
export const backups = pgTable(
  "backups",
  {
    id: idColumn().primaryKey(),
    /** Of this server's release. */
    version: text("version").notNull(),
    bytes: bigint("bytes", { mode: "number" }).notNull(),
    /** SHA-256 of the file. */
    sha256: text("sha256").notNull(),
    rowCount: integer("row_count").notNull(),
    /** When it was last proven to be restorable. */
    verifiedAt: moment("verified_at"),
    createdBy: idColumn("created_by").references(() => users.id, { onDelete: "set null" }),
    createdAt: createdAt(),
  },
  (table) => [index("backups_page").on(table.createdAt, table.id)],
);
