import { sql } from "drizzle-orm";
import { check, index, inet, integer, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { ExitChoice, ServedRoute } from "@weft/protocol";
import { createdAt, groupIdsColumn, idColumn, moment, wide } from "./columns.ts";
import { PEER_STATES } from "../../domain/peer-state.ts";
import { PEER_KINDS } from "../../domain/peer.ts";
import { networks } from "./networks.ts";

/** Where a peer may be reached, as it is stored. */
export type StoredEndpoint = { readonly address: string; readonly source: "interface" | "observed" };

/** Members of networks. A removed peer has no row. */
export const peers = pgTable(
  "peers",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    hostname: text("hostname").notNull(),
    kind: text("kind", { enum: PEER_KINDS }).notNull().default("node"),
    /** Canonical base64 of the Ed25519 key; one key is one node of the whole server. A static client has none. */
    identityKey: text("identity_key"),
    /** The node that speaks for a static client; nobody does when null. */
    gatewayPeerId: idColumn("gateway_peer_id"),
    publicKey: text("public_key").notNull(),
    /** Place in the network's ranges; both addresses follow from it. */
    hostOffset: wide("host_offset").notNull(),
    ipv4: inet("ipv4"),
    ipv6: inet("ipv6"),
    os: text("os").notNull(),
    arch: text("arch").notNull(),
    agentVersion: text("agent_version").notNull(),
    /** What the node announced at its last start, sorted. */
    capabilities: jsonb("capabilities").$type<readonly string[]>().notNull().default([]),
    endpoints: jsonb("endpoints").$type<readonly StoredEndpoint[]>().notNull().default([]),
    rxBytes: wide("rx_bytes")
      .notNull()
      .default(sql`0`),
    txBytes: wide("tx_bytes")
      .notNull()
      .default(sql`0`),
    /** The agent start that the last counters came from, and how much of the totals belongs to it. */
    counterEpoch: text("counter_epoch"),
    epochRxBytes: wide("epoch_rx_bytes")
      .notNull()
      .default(sql`0`),
    epochTxBytes: wide("epoch_tx_bytes")
      .notNull()
      .default(sql`0`),
    lastSeenAt: moment("last_seen_at"),
    /** Only active peers stand in maps. */
    state: text("state", { enum: PEER_STATES }).notNull().default("active"),
    /** When the membership ends by itself; never when null. */
    expiresAt: moment("expires_at"),
    groupIds: groupIdsColumn(),
    /** Approved ranges behind the peer, sorted; changed with the rows of `routes`. */
    routes: text("routes")
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** Approved ranges that the node forwards into, used or in reserve; changed with the rows of `routes`. */
    serves: jsonb("serves").$type<readonly ServedRoute[]>().notNull().default([]),
    /** Through whom the peer's other traffic leaves; its own way when null. */
    exitChoice: jsonb("exit_choice").$type<ExitChoice>(),
    /** While the peer stands in for other routers: since when it answers, and how long that counts unless it is renewed. */
    routerUpSince: moment("router_up_since"),
    routerUpUntil: moment("router_up_until"),
    /** Removed when it was away for so long; kept for good when null. */
    ephemeralSeconds: integer("ephemeral_seconds"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("peers_identity_unique").on(table.identityKey),
    uniqueIndex("peers_public_key_unique").on(table.networkId, table.publicKey),
    uniqueIndex("peers_name_unique").on(table.networkId, table.name),
    uniqueIndex("peers_offset_unique").on(table.networkId, table.hostOffset),
    uniqueIndex("peers_ipv4_unique").on(table.networkId, table.ipv4),
    uniqueIndex("peers_ipv6_unique").on(table.networkId, table.ipv6),
    index("peers_created_page").on(table.networkId, table.createdAt, table.id),
    index("peers_name_page").on(table.networkId, table.name, table.id),
    index("peers_state_name_page").on(table.networkId, table.state, table.name, table.id),
    index("peers_state_created_page").on(table.networkId, table.state, table.createdAt, table.id),
    index("peers_version_name_page").on(table.networkId, table.agentVersion, table.name, table.id),
    index("peers_version_created_page").on(table.networkId, table.agentVersion, table.createdAt, table.id),
    index("peers_kind_name_page").on(table.networkId, table.kind, table.name, table.id),
    index("peers_kind_created_page").on(table.networkId, table.kind, table.createdAt, table.id),
    index("peers_gateway").on(table.gatewayPeerId),
    index("peers_expiry_due")
      .on(table.expiresAt)
      .where(sql`${table.state} = 'active'`),
    index("peers_expiry_page")
      .on(table.expiresAt, table.id)
      .where(sql`${table.state} = 'active'`),
    index("peers_groups").using("gin", table.groupIds),
    index("peers_ephemeral")
      .on(table.lastSeenAt)
      .where(sql`${table.ephemeralSeconds} is not null`),
    index("peers_idle").on(table.networkId, table.lastSeenAt),
    check("peers_state_known", sql`${table.state} in ('pending', 'active', 'expired', 'disabled', 'rejected')`),
    check("peers_kind_known", sql`${table.kind} in ('node', 'client')`),
    check("peers_node_has_identity", sql`(${table.kind} = 'node') = (${table.identityKey} is not null)`),
    check("peers_node_is_no_client", sql`${table.kind} = 'client' or ${table.gatewayPeerId} is null`),
    check("peers_ephemeral_positive", sql`${table.ephemeralSeconds} > 0`),
    check("peers_totals_positive", sql`${table.rxBytes} >= 0 and ${table.txBytes} >= 0`),
  ],
);
