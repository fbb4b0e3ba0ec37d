import { check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { createdAt, idColumn } from "./columns.ts";
import { users } from "./users.ts";

/** Who is told of audit events. The signing secret is not here: it follows from the server's key and the version. */
export const webhooks = pgTable(
  "webhooks",
  {
    id: idColumn().primaryKey(),
    name: text("name").notNull(),
    url: text("url").notNull(),
    /** Names of operations, or `noun.*`; none means all. */
    actions: text("actions").array().notNull(),
    state: text("state", { enum: ["on", "off"] }).notNull(),
    secretVersion: integer("secret_version").notNull().default(1),
    createdBy: idColumn("created_by").references(() => users.id, { onDelete: "set null" }),
    createdAt: createdAt(),
  },
  (table) => [
    index("webhooks_page").on(table.createdAt, table.id),
    index("webhooks_name_page").on(table.name, table.id),
    index("webhooks_state_page").on(table.state, table.createdAt, table.id),
    index("webhooks_state_name_page").on(table.state, table.name, table.id),
    check("webhooks_state_known", sql`${table.state} in ('on', 'off')`),
  ],
);
