import { sql } from "drizzle-orm";
import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";
import { users } from "./users.ts";

/** One-time links that make an account; only the SHA-256 of their secret is kept. */
export const invites = pgTable(
  "invites",
  {
    id: idColumn().primaryKey(),
    hash: text("hash").notNull(),
    role: text("role", { enum: ["none", "viewer", "operator", "admin", "owner"] }).notNull(),
    /** The login that the account gets; null: whoever opens the link chooses. */
    login: text("login"),
    expiresAt: moment("expires_at").notNull(),
    usedAt: moment("used_at"),
    usedBy: idColumn("used_by").references(() => users.id, { onDelete: "set null" }),
    createdBy: idColumn("created_by").references(() => users.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("invites_hash_unique").on(table.hash),
    index("invites_expiry")
      .on(table.expiresAt, table.id)
      .where(sql`${table.usedAt} is null`),
    index("invites_page").on(table.createdAt, table.id),
    index("invites_role_page").on(table.role, table.createdAt, table.id),
    index("invites_creator_page").on(table.createdBy, table.createdAt, table.id),
    index("invites_user").on(table.usedBy),
  ],
);
