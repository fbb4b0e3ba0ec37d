import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";
import { peers } from "./peers.ts";

/** Links that give out the configuration of a static client once; a used one has no row. */
export const clientLinks = pgTable(
  "client_links",
  {
    peerId: idColumn("peer_id")
      .primaryKey()
      .references(() => peers.id, { onDelete: "cascade" }),
    /** SHA-256 of the link's secret. */
    hash: text("hash").notNull(),
    /** Random bytes that the private key in the link was combined with; they say nothing of it. */
    pad: text("pad").notNull(),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex("client_links_hash_unique").on(table.hash), index("client_links_expiry").on(table.expiresAt)],
);
