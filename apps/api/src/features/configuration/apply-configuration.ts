import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { configurationContract } from "./contract.ts";
import { readDocument } from "./document-text.ts";
import type { Change } from "./kind.ts";
import { changeView, countsOf } from "./plan-view.ts";
import { carryOut, pathOf, planIn } from "./planning.ts";
import { workIn } from "./work.ts";

/** Does what a plan says; each change needs the rights of its own operation and writes that one's audit event. */
export async function applyConfiguration(
  deps: FeatureDeps,
  call: Call,
  { content, tag, ...options }: InputOf<typeof configurationContract.apply>,
): Outcome<typeof configurationContract.apply> {
  const document = readDocument(content);
  if (!document.ok) return document;
  return transact(deps.database.db, async (tx) => {
    const work = workIn(deps, call, { tx, authority: "caller" });
    const plan = await planIn(work, document.value, options);
    if (!plan.ok) return plan;
    if (plan.value.tag !== tag) return err({ code: "plan_stale" });
    const made = await carryOut(work, plan.value);
    if (!made.ok) return err(located(deps, made.error));
    const { changes } = plan.value;
    const counts = countsOf(changes);
    const note = { action: "configuration.apply", objectId: null, networkId: null, before: null };
    await recordAudit(tx, call, { ...note, after: { counts, tag }, at: new Date(deps.clock.nowMs()) });
    return ok({ counts, changes: changes.map(changeView), secrets: work.secrets });
  });
}

/** Whoever may not do it hears just that; everything else is said with its place in the file. */
function located(
  { explain }: Pick<FeatureDeps, "explain">,
  { change, failure }: { readonly change: Change; readonly failure: Failure },
): Failure {
  const isRight = failure.code === "forbidden" || failure.code === "scope_missing";
  if (isRight || failure.code === "configuration_fault") return failure;
  return { code: "configuration_fault", at: pathOf(change), reason: explain(failure) };
}
