import { eq, getTableColumns } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, notBefore, before, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { backups } from "./schema/index.ts";

export type Backup = typeof backups.$inferSelect;

export const backupsList: ListTable = {
  table: backups,
  id: backups.id,
  fields: { createdAt: sortColumn(backups.createdAt) },
  filters: { since: notBefore(backups.createdAt), until: before(backups.createdAt) },
  search: [],
};

export async function listBackups(db: Executor, request: ListRequest): Promise<ListedPage<Backup>> {
  const page = listPage(backupsList, request);
  const rows = await db
    .select({ ...getTableColumns(backups), listPlace: page.place })
    .from(backups)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Backup) => row });
}

export async function findBackup(db: Executor, id: string): Promise<Backup | undefined> {
  const [row] = await db.select().from(backups).where(eq(backups.id, id));
  return row;
}

export async function insertBackup(tx: Executor, backup: Backup): Promise<void> {
  await tx.insert(backups).values(backup);
}

export async function noteVerified(tx: Executor, id: string, verifiedAt: Date): Promise<void> {
  await tx.update(backups).set({ verifiedAt }).where(eq(backups.id, id));
}

/** False when somebody else was faster. */
export async function deleteBackup(tx: Executor, id: string): Promise<boolean> {
  return (await tx.delete(backups).where(eq(backups.id, id)).returning({ id: backups.id })).length === 1;
}
