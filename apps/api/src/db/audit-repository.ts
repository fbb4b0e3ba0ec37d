import { lt } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { auditEvents } from "./schema/index.ts";

export type AuditEvent = Omit<typeof auditEvents.$inferInsert, "id"> & { readonly id: string };

/** Writes who did what; in the same transaction as the change itself. */
export async function insertAuditEvent(tx: Executor, event: AuditEvent): Promise<void> {
  await tx.insert(auditEvents).values(event);
}

/** Forgets what happened before a moment. */
export async function deleteAuditEventsBefore(db: Executor, moment: Date): Promise<void> {
  await db.delete(auditEvents).where(lt(auditEvents.at, moment));
}
