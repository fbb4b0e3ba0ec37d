import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn, moment, wide } from "./columns.ts";
import { rules } from "./rules.ts";

/**
 * What met each rule on each node. A node counts from zero at every start of its engine, so the part of the running start
 * stands beside the total. Rows of a removed node stay: what met the rule does not become less.
 */
export const ruleHits = pgTable(
  "rule_hits",
  {
    ruleId: idColumn("rule_id")
      .notNull()
      .references(() => rules.id, { onDelete: "cascade" }),
    peerId: idColumn("peer_id").notNull(),
    packets: wide("packets").notNull(),
    bytes: wide("bytes").notNull(),
    drops: wide("drops").notNull(),
    flows: wide("flows").notNull(),
    counterEpoch: text("counter_epoch").notNull(),
    epochPackets: wide("epoch_packets").notNull(),
    epochBytes: wide("epoch_bytes").notNull(),
    epochDrops: wide("epoch_drops").notNull(),
    epochFlows: wide("epoch_flows").notNull(),
    lastHitAt: moment("last_hit_at"),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.peerId] })],
);
