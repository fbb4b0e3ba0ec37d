import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { configurationContract } from "./contract.ts";
import { readDocument } from "./document-text.ts";
import { changeView, countsOf } from "./plan-view.ts";
import { carryOut, pathOf, planIn } from "./planning.ts";
import { workIn } from "./work.ts";

/** Makes the changes of a file in a transaction that is rolled back: what cannot be is found by what would refuse it. */
export async function planConfiguration(
  deps: FeatureDeps,
  call: Call,
  { content, ...options }: InputOf<typeof configurationContract.plan>,
): Outcome<typeof configurationContract.plan> {
  const document = readDocument(content);
  if (!document.ok) return document;
  let seen: Awaited<Outcome<typeof configurationContract.plan>> | undefined;
  const tried = await transact(deps.database.db, async (tx) => {
    const work = workIn(deps, call, { tx, authority: "trial" });
    const plan = await planIn(work, document.value, options);
    if (!plan.ok) return plan;
    const { tag, changes } = plan.value;
    const made = await carryOut(work, plan.value);
    const faults = made.ok
      ? []
      : [{ path: pathOf(made.error.change), code: made.error.failure.code, message: deps.explain(made.error.failure) }];
    const counts = countsOf(changes);
    const isIdle = counts.create + counts.update + counts.delete === 0;
    const verdict = faults.length > 0 ? "faulty" : isIdle ? "nothing" : "changes";
    seen = ok({ tag, verdict, counts, changes: changes.map(changeView), faults });
    return err({ code: "plan_stale" } as const);
  });
  if (seen) return seen;
  if (!tried.ok) return tried;
  throw new Error("a trial is always rolled back");
}
