import { check, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { TRAFFIC_STEPS } from "../../domain/traffic-steps.ts";
import { idColumn, moment, wide } from "./columns.ts";
import { networks } from "./networks.ts";

/**
 * What each peer moved, step by step. A step in which nothing moved has no row. Rows of a removed peer stay until their
 * time: what its network moved does not become less.
 */
export const trafficHistory = pgTable(
  "traffic_history",
  {
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    peerId: idColumn("peer_id").notNull(),
    step: text("step", { enum: TRAFFIC_STEPS }).notNull(),
    /** Begin of the step. */
    at: moment("at").notNull(),
    rxBytes: wide("rx_bytes").notNull(),
    txBytes: wide("tx_bytes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.peerId, table.step, table.at] }),
    index("traffic_history_network").on(table.networkId, table.step, table.at),
    index("traffic_history_age").on(table.step, table.at),
    check("traffic_history_step_known", sql`${table.step} in ('10s', '1m', '1h')`),
  ],
);
