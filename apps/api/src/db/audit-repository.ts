import { eq, getTableColumns, lt } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { before, equals, finishPage, listPage, notBefore, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { auditEvents } from "./schema/index.ts";

export type AuditEvent = typeof auditEvents.$inferSelect;

export const auditList: ListTable = {
  table: auditEvents,
  id: auditEvents.id,
  fields: { at: sortColumn(auditEvents.at) },
  filters: {
    action: equals(auditEvents.action),
    actorKind: equals(auditEvents.actorKind),
    actorId: equals(auditEvents.actorId),
    objectId: equals(auditEvents.objectId),
    networkId: equals(auditEvents.networkId),
    requestId: equals(auditEvents.requestId),
    since: notBefore(auditEvents.at),
    until: before(auditEvents.at),
  },
  search: [auditEvents.action, auditEvents.actorLogin, auditEvents.objectId, auditEvents.address],
};

/** Writes who did what; in the same transaction as the change itself. */
export async function insertAuditEvent(tx: Executor, event: AuditEvent): Promise<void> {
  await tx.insert(auditEvents).values(event);
}

export async function findAuditEvent(db: Executor, id: string): Promise<AuditEvent | undefined> {
  const [row] = await db.select().from(auditEvents).where(eq(auditEvents.id, id));
  return row;
}

export async function listAuditEvents(db: Executor, request: ListRequest): Promise<ListedPage<AuditEvent>> {
  const page = listPage(auditList, request);
  const rows = await db
    .select({ ...getTableColumns(auditEvents), listPlace: page.place })
    .from(auditEvents)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: AuditEvent) => row });
}

/** Forgets what happened before a moment. */
export async function deleteAuditEventsBefore(db: Executor, moment: Date): Promise<void> {
  await db.delete(auditEvents).where(lt(auditEvents.at, moment));
}
