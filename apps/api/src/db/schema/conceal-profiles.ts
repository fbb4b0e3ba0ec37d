import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn } from "./columns.ts";
import { networks } from "./networks.ts";

/** How datagrams may be disguised in a network. */
export const concealProfiles = pgTable(
  "conceal_profiles",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    /** The newest version. */
    version: integer("version").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("conceal_profiles_name_unique").on(table.networkId, sql`lower(${table.name})`),
    index("conceal_profiles_page").on(table.networkId, table.name, table.id),
    check("conceal_profiles_version_positive", sql`${table.version} > 0`),
  ],
);

/** What a profile was from one version on. */
export const concealVersions = pgTable(
  "conceal_versions",
  {
    profileId: idColumn("profile_id")
      .notNull()
      .references(() => concealProfiles.id, { onDelete: "cascade" }),
    version: integer("version").notNull(),
    /** Where it came from: a preset, or a file. */
    origin: text("origin").notNull(),
    /** Lines of key=value. Every node of the network knows them; they guard nothing but the look of datagrams. */
    settings: text("settings").notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.profileId, table.version] })],
);
