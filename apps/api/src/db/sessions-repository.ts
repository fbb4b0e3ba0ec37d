import { and, eq, gt, isNull, lt, ne } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { sessions, users } from "./schema/index.ts";
import { rightsColumns } from "./users-repository.ts";
import type { User } from "./users-repository.ts";

export type SessionWithUser = { readonly user: User; readonly lastSeenAt: Date; readonly expiresAt: Date };

/** A session as lists show it. */
export type Session = {
  readonly id: string;
  readonly userId: string;
  readonly login: string;
  /** SHA-256 of the cookie; stays inside. */
  readonly tokenHash: string;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
};

export async function insertSession(tx: Executor, session: Omit<Session, "login">): Promise<void> {
  await tx.insert(sessions).values(session);
}

/** The session behind a cookie, unless it ended or its user was disabled. */
export async function findSession(db: Executor, tokenHash: string, now: Date): Promise<SessionWithUser | undefined> {
  const [row] = await db
    .select({ user: rightsColumns, lastSeenAt: sessions.lastSeenAt, expiresAt: sessions.expiresAt })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now), isNull(users.disabledAt)));
  return row;
}

export const sessionsList: ListTable = {
  table: sessions,
  id: sessions.id,
  fields: { createdAt: sortColumn(sessions.createdAt) },
  filters: { userId: equals(sessions.userId) },
  search: [sessions.userAgent],
};

/** Sessions that have not ended. */
export async function listSessions(db: Executor, now: Date, request: ListRequest): Promise<ListedPage<Session>> {
  const page = listPage(sessionsList, request, gt(sessions.expiresAt, now));
  const rows = await db
    .select({ ...sessionColumns, listPlace: page.place })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Session) => row });
}

export async function findSessionById(db: Executor, id: string): Promise<Session | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, id));
  return row;
}

/** When the session behind a cookie began. */
export async function sessionBegan(db: Executor, tokenHash: string): Promise<Date | undefined> {
  const [row] = await db
    .select({ createdAt: sessions.createdAt })
    .from(sessions)
    .where(eq(sessions.tokenHash, tokenHash));
  return row?.createdAt;
}

export async function touchSession(
  db: Executor,
  tokenHash: string,
  moments: { readonly lastSeenAt: Date; readonly expiresAt: Date },
): Promise<void> {
  await db.update(sessions).set(moments).where(eq(sessions.tokenHash, tokenHash));
}

export async function deleteSession(db: Executor, tokenHash: string): Promise<void> {
  await db.delete(sessions).where(eq(sessions.tokenHash, tokenHash));
}

/** Ends all sessions of a user, but for the one with `keep`. */
export async function deleteSessionsOf(tx: Executor, userId: string, keep?: string): Promise<void> {
  const others = keep === undefined ? undefined : ne(sessions.tokenHash, keep);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), others));
}

export async function deleteExpiredSessions(db: Executor, now: Date): Promise<void> {
  await db.delete(sessions).where(lt(sessions.expiresAt, now));
}

const sessionColumns = {
  id: sessions.id,
  userId: sessions.userId,
  login: users.login,
  tokenHash: sessions.tokenHash,
  address: sessions.address,
  userAgent: sessions.userAgent,
  createdAt: sessions.createdAt,
  lastSeenAt: sessions.lastSeenAt,
  expiresAt: sessions.expiresAt,
};
