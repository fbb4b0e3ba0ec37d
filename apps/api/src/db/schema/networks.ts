import type { ProfileFallback } from "@weft/protocol";
import { sql } from "drizzle-orm";
import { cidr, check, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
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
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("networks_name_unique").on(sql`lower(${table.name})`),
    index("networks_name_page").on(table.name, table.id),
    index("networks_created_page").on(table.createdAt, table.id),
    check("networks_profile_fallback", sql`${table.profileFallback} in ('plain', 'refuse')`),
    check("networks_have_a_range", sql`${table.ipv4Range} is not null or ${table.ipv6Range} is not null`),
  ],
);
