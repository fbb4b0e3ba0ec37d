import { sql } from "drizzle-orm";
import { check, cidr, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { networks } from "./networks.ts";
import { peers } from "./peers.ts";

/** Address ranges behind peers. Only an approved one stands in maps. */
export const routes = pgTable(
  "routes",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    peerId: idColumn("peer_id")
      .notNull()
      .references(() => peers.id, { onDelete: "cascade" }),
    prefix: cidr("prefix").notNull(),
    description: text("description").notNull().default(""),
    state: text("state", { enum: ["pending", "approved"] })
      .notNull()
      .default("pending"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("routes_peer_unique").on(table.peerId, table.prefix),
    // Two ways to one range would take each other's packets: one of them is approved at a time.
    uniqueIndex("routes_approved_unique")
      .on(table.networkId, table.prefix)
      .where(sql`${table.state} = 'approved'`),
    index("routes_page").on(table.networkId, table.createdAt, table.id),
    check("routes_state", sql`${table.state} in ('pending', 'approved')`),
  ],
);
