import { and, count, eq, gt, isNull, lt, or, sql } from "drizzle-orm";
import type { ServerRole } from "../registry/access.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { invites } from "./schema/index.ts";

export type Invite = {
  readonly id: string;
  readonly role: ServerRole;
  readonly login: string | null;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly usedBy: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
};

export async function insertInvite(tx: Executor, invite: Invite & { readonly hash: string }): Promise<void> {
  await tx.insert(invites).values(invite);
}

export const invitesList: ListTable = {
  table: invites,
  id: invites.id,
  fields: { createdAt: sortColumn(invites.createdAt) },
  filters: { role: equals(invites.role), createdBy: equals(invites.createdBy) },
  search: [invites.login],
};

export async function listInvites(db: Executor, request: ListRequest): Promise<ListedPage<Invite>> {
  const page = listPage(invitesList, request);
  const rows = await db
    .select({ ...columns, listPlace: page.place })
    .from(invites)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Invite) => row });
}

/** How many can still be used; whoever counts to add one does so alone until the transaction ends. */
export async function countOpenInvites(tx: Executor, now: Date): Promise<number> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('weft invites'))`);
  const [row] = await tx
    .select({ total: count() })
    .from(invites)
    .where(and(isNull(invites.usedAt), gt(invites.expiresAt, now)));
  return row?.total ?? 0;
}

/** Used and ended ones are of interest for a while. */
export async function deleteInvitesBefore(db: Executor, before: Date): Promise<void> {
  await db.delete(invites).where(or(lt(invites.usedAt, before), lt(invites.expiresAt, before)));
}

/** The invite behind a secret, while it is good. */
export async function findOpenInvite(db: Executor, hash: string, now: Date): Promise<Invite | undefined> {
  const [row] = await db.select(columns).from(invites).where(isOpen(hash, now));
  return row;
}

/** Spends an invite; undefined when it was not good any more. Of parallel attempts one gets it. */
export async function takeInvite(tx: Executor, hash: string, now: Date): Promise<Invite | undefined> {
  const [row] = await tx.update(invites).set({ usedAt: now }).where(isOpen(hash, now)).returning(columns);
  return row;
}

export async function noteInviteUse(tx: Executor, id: string, userId: string): Promise<void> {
  await tx.update(invites).set({ usedBy: userId }).where(eq(invites.id, id));
}

export async function deleteInvite(tx: Executor, id: string): Promise<Invite | undefined> {
  const [row] = await tx.delete(invites).where(eq(invites.id, id)).returning(columns);
  return row;
}

function isOpen(hash: string, now: Date) {
  return and(eq(invites.hash, hash), isNull(invites.usedAt), gt(invites.expiresAt, now));
}

const columns = {
  id: invites.id,
  role: invites.role,
  login: invites.login,
  expiresAt: invites.expiresAt,
  usedAt: invites.usedAt,
  usedBy: invites.usedBy,
  createdBy: invites.createdBy,
  createdAt: invites.createdAt,
};
