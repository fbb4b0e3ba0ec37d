import { err, ok, ruleIds } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findRuleOfKind, insertRule } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { rulesContract } from "./contract.ts";
import { ruleView } from "./rule-view.ts";

/** Adds a rule. */
export async function createRule(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof rulesContract.create>,
): Outcome<typeof rulesContract.create> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, input.networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const existing = await findRuleOfKind(tx, network.id, input.kind);
    if (existing) return err({ code: "rule_exists", ruleId: existing.id });
    const rule = { id: ruleIds.make(deps.random), networkId: network.id, kind: input.kind, createdAt: now };
    await insertRule(tx, rule);
    await publishChanges(tx, network.id, { changes: [{ kind: "rules" }], at: now });
    const note = { action: "rules.create", objectId: rule.id, networkId: network.id };
    await recordAudit(tx, call, { ...note, before: null, after: ruleView(rule), at: now });
    return ok(ruleView(rule));
  });
}
