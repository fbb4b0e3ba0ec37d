import { sql } from "drizzle-orm";
import { check, index, inet, integer, pgTable, text } from "drizzle-orm/pg-core";
import { idColumn, moment, wide } from "./columns.ts";
import { networks } from "./networks.ts";

/**
 * Flows as nodes reported them, one row per flow and node; both ends of a flow report it. Only columns that do not change
 * are in indexes, so that a flow that goes on is cheap to write again.
 */
export const flowRecords = pgTable(
  "flow_records",
  {
    /** Made of node, counter epoch and the node's number of the flow. */
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    /** The node that reported it. */
    peerId: idColumn("peer_id").notNull(),
    otherPeerId: idColumn("other_peer_id"),
    protocol: integer("protocol").notNull(),
    /** The end that began, and the one that it called. */
    source: inet("source").notNull(),
    destination: inet("destination").notNull(),
    sourcePort: integer("source_port"),
    destinationPort: integer("destination_port"),
    icmpType: integer("icmp_type"),
    /** "out": the reporting node began. */
    direction: text("direction", { enum: ["in", "out"] }).notNull(),
    verdict: text("verdict", { enum: ["allow", "deny"] }).notNull(),
    /** The rule may be gone; null = none matched. */
    ruleId: idColumn("rule_id"),
    rxPackets: wide("rx_packets").notNull(),
    rxBytes: wide("rx_bytes").notNull(),
    txPackets: wide("tx_packets").notNull(),
    txBytes: wide("tx_bytes").notNull(),
    drops: wide("drops").notNull(),
    startedAt: moment("started_at").notNull(),
    lastAt: moment("last_at").notNull(),
    state: text("state", { enum: ["open", "ended"] }).notNull(),
  },
  (table) => [
    index("flow_records_page").on(table.networkId, table.startedAt, table.id),
    index("flow_records_peer_page").on(table.networkId, table.peerId, table.startedAt, table.id),
    index("flow_records_other_page").on(table.networkId, table.otherPeerId, table.startedAt, table.id),
    index("flow_records_rule_page").on(table.networkId, table.ruleId, table.startedAt, table.id),
    index("flow_records_verdict_page").on(table.networkId, table.verdict, table.startedAt, table.id),
    index("flow_records_protocol_page").on(table.networkId, table.protocol, table.startedAt, table.id),
    index("flow_records_port_page").on(table.networkId, table.destinationPort, table.startedAt, table.id),
    index("flow_records_open")
      .on(table.peerId)
      .where(sql`${table.state} = 'open'`),
    check("flow_records_verdict", sql`${table.verdict} in ('allow', 'deny')`),
    check("flow_records_direction", sql`${table.direction} in ('in', 'out')`),
    check("flow_records_state", sql`${table.state} in ('open', 'ended')`),
  ],
);
