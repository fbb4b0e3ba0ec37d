import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { idColumn, moment, wide } from "./columns.ts";
import { networks } from "./networks.ts";

/** Places of removed peers, kept from reuse for a while so that stale packets reach nobody else. */
export const releasedOffsets = pgTable(
  "released_offsets",
  {
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    hostOffset: wide("host_offset").notNull(),
    releasedAt: moment("released_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.networkId, table.hostOffset] })],
);
