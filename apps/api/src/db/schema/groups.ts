import { sql } from "drizzle-orm";
import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { networks } from "./networks.ts";

/** Names for sets of peers; who belongs to one stands in the rows of the peers and of the enrolment keys. */
export const groups = pgTable(
  "groups",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("groups_name_unique").on(table.networkId, sql`lower(${table.name})`),
    index("groups_created_page").on(table.networkId, table.createdAt, table.id),
    index("groups_name_page").on(table.networkId, table.name, table.id),
  ],
);
