import { err } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";
import { allOperations, isOperation } from "../registry/operations.ts";
import type { Operation, StreamOperation } from "../registry/operations.ts";
import { authorise } from "../registry/authorise.ts";
import { runOperation, runStream } from "../registry/run-operation.ts";
import { watchCredential } from "./credential-watch.ts";
import { t, trpcError } from "./init.ts";
import type { AppRouter, Procedures } from "./router-types.ts";

/** One procedure per operation. */
export function createRouter(deps: FeatureDeps): AppRouter {
  const record: Record<string, Record<string, unknown>> = {};
  for (const operation of allOperations) {
    const [noun = "", verb = ""] = operation.name.split(".");
    record[noun] = { ...record[noun], [verb]: procedureOf(deps, operation) };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built from the list that the type is computed from
  return t.router(record as unknown as Procedures);
}

function procedureOf(deps: FeatureDeps, operation: Operation | StreamOperation) {
  // Validation happens once, in the registry; tRPC passes the input through.
  const procedure = t.procedure.input((input: unknown) => input);
  if (!isOperation(operation)) {
    return procedure.subscription(async function* ({ ctx, input, signal }) {
      const ended = signal ?? new AbortController().signal;
      const watch = watchCredential(deps, { access: operation.contract.access, actor: ctx.actor, input });
      try {
        const either = AbortSignal.any([ended, watch.signal]);
        const events = unwrap(await runStream(operation, deps, { call: ctx, input, signal: either }));
        for await (const event of events) {
          // What waited for a slow reader is not for one who may not read any more.
          if (either.aborted) break;
          yield event;
        }
        const failure = watch.failure();
        if (failure) throw trpcError(failure);
      } finally {
        watch.dispose();
      }
    });
  }
  if (operation.contract.rest.download !== undefined) {
    // A file does not fit into an answer of tRPC; whoever may have it hears that it is elsewhere.
    return procedure.query(async ({ ctx, input }) => {
      const allowed = await authorise(deps.database.db, operation.contract.access, { actor: ctx.actor, input });
      return unwrap(allowed.ok ? err({ code: "not_found", what: "procedure; use REST" }) : allowed);
    });
  }
  if (operation.contract.kind === "query") {
    return procedure.query(async ({ ctx, input }) => unwrap(await runOperation(operation, deps, { call: ctx, input })));
  }
  return procedure.mutation(async ({ ctx, input }) =>
    unwrap(await runOperation(operation, deps, { call: ctx, input })),
  );
}

function unwrap<T>(result: Result<T, Failure>): T {
  if (result.ok) return result.value;
  throw trpcError(result.error);
}
