import { err, ok } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { changeRule, findOpenRule, findRule } from "../../db/rules-repository.ts";
import type { Rule, RuleSettings } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { rulesContract } from "./contract.ts";
import { ruleView } from "./rule-view.ts";

/** Turns a rule on or off, or changes what it is called; what it matches stays. */
export async function updateRule(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof rulesContract.update>,
): Outcome<typeof rulesContract.update> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findRule(tx, input.ruleId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const before = await findRule(tx, input.ruleId);
    if (!before) return err({ code: "not_found", what: "rule" });
    const settings: RuleSettings = {
      name: input.name ?? before.name,
      description: input.description ?? before.description,
      state: input.state ?? before.state,
    };
    const after: Rule = { ...before, ...settings };
    if (isSame(before, settings)) return ok(ruleView(before));
    const turnsOn = before.state === "off" && after.state === "on";
    const isOpen = after.action === "allow" && after.protocol === null;
    const existing = turnsOn && isOpen ? await findOpenRule(tx, after.networkId, "on") : undefined;
    if (existing) return err({ code: "rule_exists", ruleId: existing.id });
    await changeRule(tx, before.id, settings);
    // Nodes know nothing of names and descriptions.
    if (before.state !== after.state) {
      await publishChanges(tx, before.networkId, { changes: [{ kind: "rules" }], at: now });
    }
    const note = { action: "rules.update", objectId: before.id, networkId: before.networkId };
    await recordAudit(tx, call, { ...note, before: ruleView(before), after: ruleView(after), at: now });
    return ok(ruleView(after));
  });
}

function isSame(rule: Rule, settings: RuleSettings): boolean {
  return rule.name === settings.name && rule.description === settings.description && rule.state === settings.state;
}
