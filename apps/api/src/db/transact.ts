import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { Executor } from "./client.ts";

/** Runs `work` in one transaction: committed when it succeeds, rolled back when it returns a failure or throws. */
export async function transact<T>(
  db: Executor,
  work: (tx: Executor) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  let refused: Result<T, Failure> | undefined;
  try {
    return await db.transaction(async (tx) => {
      const result = await work(tx);
      if (result.ok) return result;
      refused = result;
      return tx.rollback();
    });
  } catch (error) {
    if (refused) return refused;
    throw error;
  }
}
