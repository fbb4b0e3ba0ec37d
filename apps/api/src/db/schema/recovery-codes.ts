import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn } from "./columns.ts";
import { users } from "./users.ts";

/** Codes for people who lost their authenticator, hashed; a used one has no row. */
export const recoveryCodes = pgTable(
  "recovery_codes",
  {
    userId: idColumn("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    hash: text("hash").notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.hash] })],
);
