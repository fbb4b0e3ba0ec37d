import { count, eq, sql } from "drizzle-orm";
import type { Role } from "../registry/access.ts";
import type { Executor } from "./client.ts";
import { users } from "./schema/index.ts";

export type User = { readonly id: string; readonly login: string; readonly role: Role };
export type UserWithPassword = User & { readonly passwordHash: string; readonly isDisabled: boolean };

/** Makes first-run attempts wait for each other. */
export async function lockUsers(tx: Executor): Promise<void> {
  await tx.execute(sql`lock table ${users} in share row exclusive mode`);
}

export async function ownerExists(db: Executor): Promise<boolean> {
  const [row] = await db.select({ total: count() }).from(users).where(eq(users.role, "owner"));
  return (row?.total ?? 0) > 0;
}

export async function insertUser(
  tx: Executor,
  user: User & { readonly passwordHash: string; readonly createdAt: Date },
): Promise<void> {
  await tx.insert(users).values(user);
}

export async function findUserByLogin(db: Executor, login: string): Promise<UserWithPassword | undefined> {
  const [row] = await db
    .select()
    .from(users)
    .where(eq(sql`lower(${users.login})`, login.toLowerCase()));
  return (
    row && {
      id: row.id,
      login: row.login,
      role: row.role,
      passwordHash: row.passwordHash,
      isDisabled: row.disabledAt !== null,
    }
  );
}
