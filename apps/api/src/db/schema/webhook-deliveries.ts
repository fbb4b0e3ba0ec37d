import { check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { createdAt, idColumn, moment } from "./columns.ts";
import { webhooks } from "./webhooks.ts";

/** What is to be sent or was sent: queue and log in one. Written in the transaction of the change it tells about. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: idColumn().primaryKey(),
    webhookId: idColumn("webhook_id")
      .notNull()
      .references(() => webhooks.id, { onDelete: "cascade" }),
    eventId: text("event_id").notNull(),
    action: text("action").notNull(),
    /** The very bytes that are signed and sent. */
    body: text("body").notNull(),
    state: text("state", { enum: ["pending", "delivered", "failed"] })
      .notNull()
      .default("pending"),
    attempts: integer("attempts").notNull().default(0),
    nextAttemptAt: moment("next_attempt_at"),
    lastStatus: integer("last_status"),
    lastError: text("last_error"),
    finishedAt: moment("finished_at"),
    createdAt: createdAt(),
  },
  (table) => [
    index("webhook_deliveries_page").on(table.webhookId, table.createdAt, table.id),
    index("webhook_deliveries_state_page").on(table.webhookId, table.state, table.createdAt, table.id),
    index("webhook_deliveries_event_page").on(table.webhookId, table.eventId, table.createdAt, table.id),
    index("webhook_deliveries_action_page").on(table.webhookId, table.action, table.createdAt, table.id),
    index("webhook_deliveries_due")
      .on(table.nextAttemptAt)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_deliveries_age").on(table.createdAt),
    check("webhook_deliveries_state_known", sql`${table.state} in ('pending', 'delivered', 'failed')`),
  ],
);
