import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { networks } from "./networks.ts";

const networkId = () =>
  idColumn("network_id")
    .notNull()
    .references(() => networks.id, { onDelete: "cascade" });

/** What names of a network end in. A network without a row has the defaults. */
export const nameSettings = pgTable(
  "name_settings",
  {
    networkId: networkId().primaryKey(),
    state: text("state", { enum: ["on", "off"] }).notNull(),
    domain: text("domain").notNull(),
    searchDomains: text("search_domains").array().notNull(),
    /** Nodes of these groups leave the resolver of their host alone. */
    leftAloneGroupIds: text("left_alone_group_ids").array().notNull(),
  },
  (table) => [check("name_settings_state_known", sql`${table.state} in ('on', 'off')`)],
);

/** Names that administrators gave. */
export const nameRecords = pgTable(
  "name_records",
  {
    id: idColumn().primaryKey(),
    networkId: networkId(),
    /** Below the domain of the network; "@" is the domain itself. */
    name: text("name").notNull(),
    type: text("type", { enum: ["A", "AAAA", "CNAME"] }).notNull(),
    value: text("value").notNull(),
    ttlSeconds: integer("ttl_seconds").notNull(),
    description: text("description").notNull().default(""),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("name_records_unique").on(table.networkId, table.name, table.type, table.value),
    index("name_records_name_page").on(table.networkId, table.name, table.id),
    index("name_records_page").on(table.networkId, table.createdAt, table.id),
    index("name_records_type_name_page").on(table.networkId, table.type, table.name, table.id),
    index("name_records_type_page").on(table.networkId, table.type, table.createdAt, table.id),
    check("name_records_type_known", sql`${table.type} in ('A', 'AAAA', 'CNAME')`),
  ],
);

/** Servers that nodes ask about domains. */
export const nameserverGroups = pgTable(
  "nameserver_groups",
  {
    id: idColumn().primaryKey(),
    networkId: networkId(),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    /** Address and port of each, in the order in which they are asked. */
    servers: text("servers").array().notNull(),
    /** None: everything. */
    domains: text("domains").array().notNull(),
    /** Whose nodes use them; none: all. */
    groupIds: text("group_ids").array().notNull(),
    state: text("state", { enum: ["on", "off"] }).notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("nameserver_groups_name_unique").on(table.networkId, sql`lower(${table.name})`),
    index("nameserver_groups_name_page").on(table.networkId, table.name, table.id),
    index("nameserver_groups_page").on(table.networkId, table.createdAt, table.id),
    index("nameserver_groups_state_name_page").on(table.networkId, table.state, table.name, table.id),
    index("nameserver_groups_state_page").on(table.networkId, table.state, table.createdAt, table.id),
    check("nameserver_groups_state_known", sql`${table.state} in ('on', 'off')`),
  ],
);
