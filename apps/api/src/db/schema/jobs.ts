import { sql } from "drizzle-orm";
import { check, index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { WORK_KINDS } from "@weft/protocol";
import { JOB_STATES } from "../../domain/job.ts";
import { createdAt, idColumn, moment } from "./columns.ts";
import { networks } from "./networks.ts";
import { peers } from "./peers.ts";

/** Work that nodes do for the console: asked for, at work, ended. */
export const jobs = pgTable(
  "jobs",
  {
    id: idColumn().primaryKey(),
    networkId: idColumn("network_id")
      .notNull()
      .references(() => networks.id, { onDelete: "cascade" }),
    /** The node that does it. */
    peerId: idColumn("peer_id")
      .notNull()
      .references(() => peers.id, { onDelete: "cascade" }),
    targetPeerId: idColumn("target_peer_id").references(() => peers.id, { onDelete: "set null" }),
    kind: text("kind", { enum: WORK_KINDS }).notNull(),
    state: text("state", { enum: JOB_STATES }).notNull(),
    input: jsonb("input").$type<Readonly<Record<string, unknown>>>().notNull(),
    askedByKind: text("asked_by_kind", { enum: ["anonymous", "user", "token", "node", "server"] }).notNull(),
    askedById: text("asked_by_id"),
    askedByLogin: text("asked_by_login"),
    /** What its audit events are called. */
    action: text("action").notNull(),
    timeLimitMs: integer("time_limit_ms").notNull(),
    /** The server that runs it moves this on; behind it, that server is gone. */
    leaseUntil: moment("lease_until").notNull(),
    /** Somebody cancelled it at another server than the one that runs it. */
    cancelAskedAt: moment("cancel_asked_at"),
    failureCode: text("failure_code"),
    failureDetail: text("failure_detail"),
    /** JSON text: what was found, so far or in the end. Text, as nodes may send what jsonb does not take. */
    result: text("result"),
    /** Also of a result that is not kept any more. */
    resultBytes: integer("result_bytes").notNull().default(0),
    createdAt: createdAt(),
    startedAt: moment("started_at"),
    endedAt: moment("ended_at"),
  },
  (table) => [
    index("jobs_page").on(table.networkId, table.createdAt, table.id),
    index("jobs_kind_page").on(table.networkId, table.kind, table.createdAt, table.id),
    index("jobs_state_page").on(table.networkId, table.state, table.createdAt, table.id),
    index("jobs_peer_page").on(table.networkId, table.peerId, table.createdAt, table.id),
    index("jobs_target_page").on(table.networkId, table.targetPeerId, table.createdAt, table.id),
    index("jobs_pair").on(table.peerId, table.targetPeerId, table.kind, table.createdAt),
    index("jobs_target").on(table.targetPeerId),
    index("jobs_at_work")
      .on(table.leaseUntil)
      .where(sql`${table.state} in ('queued', 'running')`),
    index("jobs_age").on(table.createdAt),
    check("jobs_state_known", sql`${table.state} in ('queued', 'running', 'done', 'failed', 'cancelled', 'expired')`),
    check("jobs_ended", sql`(${table.endedAt} is null) = (${table.state} in ('queued', 'running'))`),
  ],
);
