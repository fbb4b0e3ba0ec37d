import { and, count, eq } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { recoveryCodes } from "./schema/index.ts";

/** Puts new codes in place of all older ones. */
export async function replaceRecoveryCodes(tx: Executor, userId: string, hashes: readonly string[]): Promise<void> {
  await deleteRecoveryCodes(tx, userId);
  if (hashes.length > 0) await tx.insert(recoveryCodes).values(hashes.map((hash) => ({ userId, hash })));
}

export async function deleteRecoveryCodes(tx: Executor, userId: string): Promise<void> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
}

/** Spends a code; false when there is none. Of parallel attempts one gets it. */
export async function takeRecoveryCode(tx: Executor, userId: string, hash: string): Promise<boolean> {
  const taken = await tx
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hash)))
    .returning({ hash: recoveryCodes.hash });
  return taken.length > 0;
}

export async function countRecoveryCodes(db: Executor, userId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  return row?.total ?? 0;
}
