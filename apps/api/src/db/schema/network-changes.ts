import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idColumn, moment, wide } from "./columns.ts";
import { networks } from "./networks.ts";

/** What each sequence of a network's maps was about, so that every server replica can follow. */
export const networkChanges = pgTable(
  "network_changes",
  {
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    sequence: wide("sequence").notNull(),
    kind: text("kind", { enum: ["peer", "rules", "network", "names"] }).notNull(),
    /** Set with kind "peer"; the peer may be new, changed or gone. */
    peerId: idColumn("peer_id"),
    at: moment("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.networkId, table.sequence] })],
);
