import { err, ok } from "@weft/protocol";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findRule } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy, savePolicy } from "../../registry/save-policy.ts";
import type { rulesContract } from "./contract.ts";

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
    if (!rule || !networkId) return err({ code: "not_found", what: "rule" });
    const before = await readPolicy(tx, networkId);
    const after = { rules: before.rules.filter(({ id }) => id !== rule.id), tests: before.tests };
    const note = { action: "rules.remove", objectId: rule.id, networkId, before: ruleView(rule), after: null };
    const saved = await savePolicy(tx, call, { networkId, before, after, checks: "wanted", note, at: now });
    return saved.ok ? ok(undefined) : saved;
  });
}
