import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { idColumn, moment } from "./columns.ts";

/** Who changed what; rows are never changed and refer to objects that may be gone. */
export const auditEvents = pgTable(
  "audit_events",
  {
    id: idColumn().primaryKey(),
    at: moment("at").notNull().defaultNow(),
    actorKind: text("actor_kind", { enum: ["anonymous", "user", "token", "node", "server"] }).notNull(),
    actorId: text("actor_id"),
    actorLogin: text("actor_login"),
    address: text("address").notNull(),
    requestId: text("request_id").notNull(),
    action: text("action").notNull(),
    objectId: text("object_id"),
    networkId: idColumn("network_id"),
    before: jsonb("before").$type<unknown>(),
    after: jsonb("after").$type<unknown>(),
  },
  (table) => [
    index("audit_events_page").on(table.at, table.id),
    index("audit_events_action_page").on(table.action, table.at, table.id),
    index("audit_events_actor_kind_page").on(table.actorKind, table.at, table.id),
    index("audit_events_actor_page").on(table.actorId, table.at, table.id),
    index("audit_events_object_page").on(table.objectId, table.at, table.id),
    index("audit_events_network_page").on(table.networkId, table.at, table.id),
    index("audit_events_request_page").on(table.requestId, table.at, table.id),
  ],
);
