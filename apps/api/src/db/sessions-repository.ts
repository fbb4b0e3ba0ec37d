import { and, eq, gt, isNull, lt } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { sessions, users } from "./schema/index.ts";
import type { User } from "./users-repository.ts";

export type SessionWithUser = { readonly user: User; readonly lastSeenAt: Date; readonly expiresAt: Date };

export async function insertSession(
  tx: Executor,
  session: {
    tokenHash: string;
    userId: string;
    address: string;
    userAgent: string;
    createdAt: Date;
    lastSeenAt: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await tx.insert(sessions).values(session);
}

/** The session behind a cookie, unless it ended or its user was disabled. */
export async function findSession(db: Executor, tokenHash: string, now: Date): Promise<SessionWithUser | undefined> {
  const [row] = await db
    .select({
      id: users.id,
      login: users.login,
      role: users.role,
      lastSeenAt: sessions.lastSeenAt,
      expiresAt: sessions.expiresAt,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now), isNull(users.disabledAt)));
  if (!row) return undefined;
  const { id, login, role, lastSeenAt, expiresAt } = row;
  return { user: { id, login, role }, lastSeenAt, expiresAt };
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

export async function deleteExpiredSessions(db: Executor, now: Date): Promise<void> {
  await db.delete(sessions).where(lt(sessions.expiresAt, now));
}
