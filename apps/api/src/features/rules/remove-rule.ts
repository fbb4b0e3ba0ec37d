import { err, ok } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { deleteRule, findRule } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { rulesContract } from "./contract.ts";
import { ruleView } from "./rule-view.ts";

/** Removes a rule; what it allowed is denied from then on. */
export async function removeRule(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof rulesContract.remove>,
): Outcome<typeof rulesContract.remove> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findRule(tx, input.ruleId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const rule = await findRule(tx, input.ruleId);
    if (!rule) return err({ code: "not_found", what: "rule" });
    await deleteRule(tx, rule.id);
    await publishChanges(tx, rule.networkId, { changes: [{ kind: "rules" }], at: now });
    const note = { action: "rules.remove", objectId: rule.id, networkId: rule.networkId };
    await recordAudit(tx, call, { ...note, before: ruleView(rule), after: null, at: now });
    return ok(undefined);
  });
}
