import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, idColumn, moment } from "./columns.ts";
import { users } from "./users.ts";

/** Browser sessions; the cookie holds a secret, the row its SHA-256. */
export const sessions = pgTable(
  "sessions",
  {
    tokenHash: text("token_hash").primaryKey(),
    id: idColumn().notNull(),
    userId: idColumn("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    address: text("address").notNull(),
    userAgent: text("user_agent").notNull(),
    createdAt: createdAt(),
    lastSeenAt: moment("last_seen_at").notNull().defaultNow(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("sessions_id_unique").on(table.id),
    index("sessions_page").on(table.createdAt, table.id),
    index("sessions_user").on(table.userId, table.createdAt, table.id),
    index("sessions_expiry").on(table.expiresAt),
  ],
);
