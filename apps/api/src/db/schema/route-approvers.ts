import { cidr, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { groups } from "./groups.ts";
import { networks } from "./networks.ts";

/** Ranges whose routes need nobody's approval when their peer is in a group. */
export const routeApprovers = pgTable(
  "route_approvers",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    groupId: text("group_id")
      .notNull()
      .references(() => groups.id, { onDelete: "cascade" }),
    prefix: cidr("prefix").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("route_approvers_unique").on(table.networkId, table.groupId, table.prefix),
    index("route_approvers_page").on(table.networkId, table.createdAt, table.id),
  ],
);
