import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { FailedField, Failure } from "../domain/failure.ts";
import { authorise } from "./authorise.ts";
import { failedFields, pointerOf } from "./failed-fields.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import type { Operation, StreamOperation } from "./operations.ts";

/** Authorises, validates, runs and encodes; REST and tRPC both end here. */
export async function runOperation(
  operation: Operation,
  deps: FeatureDeps,
  { call, input }: { readonly call: Call; readonly input: unknown },
): Promise<Result<unknown, Failure>> {
  const allowed = await authorise(deps.database.db, operation.contract.access, { actor: call.actor, input });
  return allowed.ok ? runChecked(operation, deps, { call, input }) : allowed;
}

/** Validates, runs and encodes, for who has been authorised already. */
export async function runChecked(
  operation: Operation,
  deps: FeatureDeps,
  { call, input }: { readonly call: Call; readonly input: unknown },
): Promise<Result<unknown, Failure>> {
  const unstorable = unstorableFields(input, []);
  if (unstorable.length > 0) return err({ code: "invalid_input", items: unstorable });
  const parsed = operation.contract.input.safeParse(input);
  if (!parsed.success) return err({ code: "invalid_input", items: failedFields(parsed.error) });
  // The handler's type was tied to this very schema where both were listed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  const result = await operation.run(deps, call, parsed.data as never);
  // A field that the contract does not name is a bug of ours: it throws here instead of leaking.
  return result.ok ? ok(operation.contract.output.parse(result.value)) : result;
}

/** The same for streams; events are checked one by one. */
export async function runStream(
  operation: StreamOperation,
  deps: FeatureDeps,
  request: { readonly call: Call; readonly input: unknown; readonly signal: AbortSignal },
): Promise<Result<AsyncIterable<unknown>, Failure>> {
  const { call, input } = request;
  const allowed = await authorise(deps.database.db, operation.contract.access, { actor: call.actor, input });
  if (!allowed.ok) return allowed;
  const parsed = operation.contract.input.safeParse(input);
  if (!parsed.success) return err({ code: "invalid_input", items: failedFields(parsed.error) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in runOperation
  return operation.run(deps, parsed.data as never, request.signal);
}

/** The database takes neither U+0000 nor halves of surrogate pairs, wherever they stand. */
function unstorableFields(value: unknown, path: readonly PropertyKey[]): FailedField[] {
  if (typeof value === "string") {
    const message = "must be Unicode text without the character U+0000";
    return UNSTORABLE.test(value) ? [{ pointer: pointerOf(path), code: "unstorable", message }] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => unstorableFields(inner, [...path, key]));
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSTORABLE = /[\u0000\ud800-\udfff]/u;
