import { eq, lt, sql } from "drizzle-orm";
import { z } from "zod";
import type { Executor } from "./client.ts";
import { idempotentAnswers } from "./schema/index.ts";

export type StoredAnswer = typeof idempotentAnswers.$inferSelect;

/** Takes the key until the transaction ends; false while another transaction has it. */
export async function takeIdempotencyKey(tx: Executor, keyHash: string): Promise<boolean> {
  const rows = await tx.execute(sql`select pg_try_advisory_xact_lock(hashtextextended(${keyHash}, 0)) as taken`);
  return LockSchema.parse(rows[0]).taken;
}

export async function findAnswer(tx: Executor, keyHash: string): Promise<StoredAnswer | undefined> {
  const [row] = await tx.select().from(idempotentAnswers).where(eq(idempotentAnswers.keyHash, keyHash));
  return row;
}

/** Keeps an answer; one under the same key that is too old to count is replaced. */
export async function storeAnswer(tx: Executor, answer: StoredAnswer): Promise<void> {
  const { keyHash, ...rest } = answer;
  await tx
    .insert(idempotentAnswers)
    .values({ keyHash, ...rest })
    .onConflictDoUpdate({ target: idempotentAnswers.keyHash, set: rest });
}

export async function deleteAnswersBefore(db: Executor, moment: Date): Promise<void> {
  await db.delete(idempotentAnswers).where(lt(idempotentAnswers.createdAt, moment));
}

const LockSchema = z.object({ taken: z.boolean() });
