import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { KeyApproval } from "../../domain/peer-state.ts";
import { createdAt, groupIdsColumn, idColumn, moment } from "./columns.ts";
import { networks } from "./networks.ts";
import { users } from "./users.ts";

export const enrolmentKeys = pgTable(
  "enrolment_keys",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    /** For people, and for files of configuration; empty when nobody gave one. */
    name: text("name").notNull().default(""),
    hash: text("hash").notNull(),
    hint: text("hint").notNull(),
    uses: integer("uses").notNull().default(0),
    /** null: any number of uses while the key is valid. */
    usesMax: integer("uses_max"),
    expiresAt: moment("expires_at").notNull(),
    revokedAt: moment("revoked_at"),
    /** Groups of the peers that join with the key. */
    groupIds: groupIdsColumn(),
    /** Peers that join with the key are removed when they were away for so long; null: they stay. */
    ephemeralSeconds: integer("ephemeral_seconds"),
    approval: text("approval").$type<KeyApproval>().notNull().default("network"),
    createdBy: idColumn("created_by").references(() => users.id, { onDelete: "set null" }),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("enrolment_keys_hash_unique").on(table.hash),
    index("enrolment_keys_page").on(table.networkId, table.createdAt, table.id),
    check("enrolment_keys_approval", sql`${table.approval} in ('network', 'given', 'required')`),
    check("enrolment_keys_ephemeral_positive", sql`${table.ephemeralSeconds} > 0`),
    index("enrolment_keys_expiry")
      .on(table.expiresAt, table.id)
      .where(sql`${table.revokedAt} is null`),
    index("enrolment_keys_expiry_page").on(table.networkId, table.expiresAt, table.id),
    index("enrolment_keys_creator_page").on(table.networkId, table.createdBy, table.createdAt, table.id),
    index("enrolment_keys_creator_expiry_page").on(table.networkId, table.createdBy, table.expiresAt, table.id),
    check("enrolment_keys_not_overspent", sql`${table.usesMax} is null or ${table.uses} <= ${table.usesMax}`),
  ],
);
