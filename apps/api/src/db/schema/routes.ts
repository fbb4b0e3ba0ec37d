import { sql } from "drizzle-orm";
import { boolean, check, cidr, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
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
    /** Whether hosts of the range see the router's address in place of the sender's. */
    masquerade: boolean("masquerade").notNull().default(true),
    /** Among several ways to one range the lowest is preferred. */
    priority: integer("priority").notNull().default(100),
    /** Whether maps lead to the range this way; of several approved ways to one range only one is. */
    active: boolean("active").notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("routes_peer_unique").on(table.peerId, table.prefix),
    // Two ways to one range would take each other's packets: one of them is used at a time. Exit nodes are chosen by peers.
    uniqueIndex("routes_active_unique")
      .on(table.networkId, table.prefix)
      .where(sql`${table.active} and masklen(${table.prefix}) > 0`),
    index("routes_peer_page").on(table.networkId, table.peerId, table.createdAt, table.id),
    index("routes_state_page").on(table.networkId, table.state, table.createdAt, table.id),
    index("routes_page").on(table.networkId, table.createdAt, table.id),
    check("routes_active", sql`not ${table.active} or ${table.state} = 'approved'`),
    check("routes_state", sql`${table.state} in ('pending', 'approved')`),
  ],
);
