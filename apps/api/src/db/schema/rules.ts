import { index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
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
    kind: text("kind", { enum: ["all-to-all", "selected"] }).notNull(),
    name: text("name").notNull().default(""),
    description: text("description").notNull().default(""),
    /** Lower is asked first; rules of one place by age. */
    place: integer("place").notNull().default(0),
    action: text("action", { enum: ["allow", "deny"] })
      .notNull()
      .default("allow"),
    state: text("state", { enum: ["on", "off"] })
      .notNull()
      .default("on"),
    /** "all", or the id of a group or a peer. */
    source: text("source").notNull().default("all"),
    destination: text("destination").notNull().default("all"),
    direction: text("direction", { enum: ["one-way", "both-ways"] })
      .notNull()
      .default("both-ways"),
    /** Null = any. */
    protocol: text("protocol", { enum: ["tcp", "udp", "icmp", "icmpv6", "sctp"] }),
    ports: jsonb("ports").$type<readonly { readonly low: number; readonly high: number }[]>(),
    icmpType: integer("icmp_type"),
    icmpCode: integer("icmp_code"),
    createdAt: createdAt(),
  },
  (table) => [
    index("rules_page").on(table.networkId, table.place, table.createdAt, table.id),
    index("rules_source").on(table.source),
    index("rules_destination").on(table.destination),
    index("rules_state_page").on(table.networkId, table.state, table.place, table.createdAt, table.id),
    index("rules_action_page").on(table.networkId, table.action, table.place, table.createdAt, table.id),
  ],
);
