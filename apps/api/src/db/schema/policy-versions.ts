import { index, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn, moment } from "./columns.ts";
import { networks } from "./networks.ts";

/** Every policy that a network had; the newest one is in force, and its tests are the network's. */
export const policyVersions = pgTable(
  "policy_versions",
  {
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    version: integer("version").notNull(),
    /** Rules and tests as callers see them. */
    document: jsonb("document").$type<unknown>().notNull(),
    /** Login or name of who made it. */
    author: text("author"),
    at: moment("at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.networkId, table.version] }),
    index("policy_versions_author_page").on(table.networkId, table.author, table.version),
  ],
);
