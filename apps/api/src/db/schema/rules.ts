import { index, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { networks } from "./networks.ts";

/** What is allowed; what no rule allows is denied. */
export const rules = pgTable(
  "rules",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["all-to-all"] }).notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("rules_page").on(table.networkId, table.createdAt, table.id)],
);
