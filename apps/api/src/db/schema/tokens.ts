import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";
import { users } from "./users.ts";

/** API tokens; only the SHA-256 is kept. */
export const tokens = pgTable(
  "tokens",
  {
    id: idColumn().primaryKey(),
    userId: idColumn("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Who made it; for tokens of service accounts that is somebody else. */
    createdBy: idColumn("created_by").references(() => users.id, { onDelete: "set null" }),
    name: text("name").notNull(),
    hash: text("hash").notNull(),
    hint: text("hint").notNull(),
    scopes: text("scopes").array().notNull(),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at"),
    expiresAt: moment("expires_at"),
  },
  (table) => [
    uniqueIndex("tokens_hash_unique").on(table.hash),
    index("tokens_creator").on(table.createdBy),
    index("tokens_expiry").on(table.expiresAt, table.id),
    index("tokens_user_expiry").on(table.userId, table.expiresAt, table.id),
    index("tokens_page").on(table.createdAt, table.id),
    index("tokens_name_page").on(table.name, table.id),
    index("tokens_user_name_page").on(table.userId, table.name, table.id),
    index("tokens_user_page").on(table.userId, table.createdAt, table.id),
  ],
);
