import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn } from "./columns.ts";
import { networks } from "./networks.ts";
import { users } from "./users.ts";

/** Roles that hold in one network, on top of the role of the server. */
export const networkRoles = pgTable(
  "network_roles",
  {
    userId: idColumn("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    role: text("role", { enum: ["viewer", "operator", "admin", "owner"] }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.networkId] }),
    index("network_roles_network").on(table.networkId),
  ],
);
