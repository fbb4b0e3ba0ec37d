import type { ProfileFallback } from "@weft/protocol";
import { sql } from "drizzle-orm";
import type { ConcealPlan } from "../../domain/conceal-plan.ts";
import type { NetworkApproval } from "../../domain/peer-state.ts";
import { cidr, check, index, integer, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, wide } from "./columns.ts";

export const networks = pgTable(
  "networks",
  {
    id: idColumn().primaryKey(),
    name: text("name").notNull(),
    ipv4Range: cidr("ipv4_range"),
    ipv6Range: cidr("ipv6_range"),
    /** Identity of the map history; a new one means that history may have been lost. */
    epoch: wide("epoch").notNull(),
    /** Version of the maps inside the epoch; rises by one with every change. */
    sequence: wide("sequence")
      .notNull()
      .default(sql`0`),
    /** Where the search for a free place in the ranges starts. */
    nextOffset: wide("next_offset")
      .notNull()
      .default(sql`1`),
    /** What nodes do that cannot reach each other under their link profile. */
    profileFallback: text("profile_fallback").$type<ProfileFallback>().notNull().default("refuse"),
    /** Whether somebody must let new peers in. */
    approval: text("approval").$type<NetworkApproval>().notNull().default("automatic"),
    /** How long a membership lasts until the node joins again; for good when null. */
    membershipSeconds: integer("membership_seconds"),
    /** Peers that were away for so long are removed; none is when null. */
    idleRemovalSeconds: integer("idle_removal_seconds"),
    /** How its nodes disguise their datagrams; plain WireGuard when null. */
    conceal: jsonb("conceal").$type<ConcealPlan>(),
    /** Nodes report one flow of so many; none when null. */
    flowSampling: integer("flow_sampling"),
    /** How long reported flows are kept. */
    flowKeepHours: integer("flow_keep_hours").notNull().default(168),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("networks_name_unique").on(sql`lower(${table.name})`),
    index("networks_name_page").on(table.name, table.id),
    index("networks_created_page").on(table.createdAt, table.id),
    check("networks_profile_fallback", sql`${table.profileFallback} in ('plain', 'refuse')`),
    check("networks_approval", sql`${table.approval} in ('automatic', 'required')`),
    check("networks_membership_positive", sql`${table.membershipSeconds} > 0`),
    check("networks_idle_removal_positive", sql`${table.idleRemovalSeconds} > 0`),
    check("networks_flow_sampling", sql`${table.flowSampling} between 1 and 10000`),
    check("networks_flow_keep_hours", sql`${table.flowKeepHours} > 0`),
    check("networks_have_a_range", sql`${table.ipv4Range} is not null or ${table.ipv6Range} is not null`),
  ],
);
