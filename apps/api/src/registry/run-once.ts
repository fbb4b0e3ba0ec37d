import { createHash } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { findAnswer, storeAnswer, takeIdempotencyKey } from "../db/idempotency-repository.ts";
import { transact } from "../db/transact.ts";
import type { Failure } from "../domain/failure.ts";
import { authorise } from "./authorise.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import type { Operation } from "./operations.ts";
import { runOperation } from "./run-operation.ts";
import { openAnswer, sealAnswer } from "./sealed-answer.ts";

/** True for operations that make something each time they run, for a caller that can be told from others. */
export function isRepeatable({ contract }: Pick<Operation, "contract">): boolean {
  return contract.rest.method === "POST" && contract.rest.status === 201 && contract.access.kind !== "public";
}

type OnceAnswer = { readonly answer: unknown; readonly origin: "made" | "repeated" };

/**
 * Runs an operation at most once per `Idempotency-Key`: a repetition gets the first answer again.
 *
 * What the operation writes and the answer are committed together, so no crash can separate them. Failures changed
 * nothing and are not kept.
 */
export async function runOnce(
  operation: Operation,
  deps: FeatureDeps,
  request: { readonly call: Call; readonly input: unknown; readonly key: string },
): Promise<Result<OnceAnswer, Failure>> {
  const { call, key } = request;
  const { access } = operation.contract;
  const allowed = await authorise(deps.database.db, access, { actor: call.actor, input: request.input });
  if (!allowed.ok) return allowed;
  if (!("userId" in call.actor)) throw new Error(`${operation.name} may be called without a user`);
  if (!KEY.test(key)) return err({ code: "invalid_input", items: [BAD_KEY] });
  const keyHash = digest([call.actor.userId, key]);
  const requestHash = digest([operation.name, comparable(operation, request.input)]);
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx): Promise<Result<OnceAnswer, Failure>> => {
    if (!(await takeIdempotencyKey(tx, keyHash))) return err({ code: "idempotency_in_progress" });
    const known = await findAnswer(tx, keyHash);
    if (known && now.getTime() - known.createdAt.getTime() < KEPT_MS) {
      if (known.requestHash !== requestHash) return err({ code: "idempotency_key_reused" });
      return ok({ answer: JSON.parse(openAnswer(key, known.sealedAnswer)), origin: "repeated" });
    }
    const inside: FeatureDeps = { ...deps, database: { db: tx, isAlive: deps.database.isAlive } };
    const result = await runOperation(operation, inside, request);
    if (!result.ok) return result;
    const sealedAnswer = sealAnswer(key, JSON.stringify(result.value));
    await storeAnswer(tx, { keyHash, requestHash, sealedAnswer, createdAt: now });
    return ok({ answer: result.value, origin: "made" });
  });
}

/** The input with its defaults and in the schema's order; what does not fit will be refused anyway. */
function comparable(operation: Operation, input: unknown): unknown {
  const parsed = operation.contract.input.safeParse(input);
  return parsed.success ? parsed.data : input;
}

function digest(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** Long enough that nobody finds it by trying: it opens the stored answer. */
const KEY = /^[\x21-\x7e]{16,200}$/;
const BAD_KEY = {
  pointer: "",
  code: "idempotency_key",
  message: "Idempotency-Key takes 16 to 200 visible ASCII characters that nobody can guess; a random UUID fits",
};
/** How long an answer is kept. */
export const KEPT_MS = 24 * 3_600_000;
