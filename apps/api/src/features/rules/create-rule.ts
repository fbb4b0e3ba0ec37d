import { err, ok, ruleIds } from "@weft/protocol";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findOpenRule, ruleKind } from "../../db/rules-repository.ts";
import type { Rule } from "../../db/rules-repository.ts";
import { ruleFault } from "../../domain/policy-rule.ts";
import { transact } from "../../db/transact.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { RULES_MAX, selectorOf } from "../../registry/policy-schemas.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy, savePolicy } from "../../registry/save-policy.ts";
import type { rulesContract } from "./contract.ts";
import { checkSides, isOpen } from "./rule-checks.ts";

/** Adds a rule. */
export async function createRule(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof rulesContract.create>,
): Outcome<typeof rulesContract.create> {
  const now = new Date(deps.clock.nowMs());
  const { position, networkId, kind, ...said } = input;
  const wanted = { ...said, source: selectorOf(input.source), destination: selectorOf(input.destination) };
  const fault = ruleFault(wanted);
  if (fault) return err({ code: "rule_fault", ...fault });
  if (kind !== undefined && kind !== ruleKind(wanted)) {
    return err({ code: "rule_fault", field: "kind", reason: `source and destination make it ${ruleKind(wanted)}` });
  }
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const existing = isOpen(wanted) ? await findOpenRule(tx, network.id, wanted.state) : undefined;
    if (existing) return err({ code: "rule_exists", ruleId: existing.id });
    const sides = await checkSides(tx, network.id, wanted);
    if (!sides.ok) return sides;
    const before = await readPolicy(tx, network.id);
    if (before.rules.length >= RULES_MAX) return err(TOO_MANY);
    const place = position === "first" ? (before.rules.at(0)?.place ?? 0) - 1 : (before.rules.at(-1)?.place ?? 0) + 1;
    const rule: Rule = { ...wanted, place, id: ruleIds.make(deps.random), networkId: network.id, createdAt: now };
    const rules = position === "first" ? [rule, ...before.rules] : [...before.rules, rule];
    const view = ruleView(rule);
    const note = { action: "rules.create", objectId: rule.id, networkId: network.id, before: null, after: view };
    const after = { rules, tests: before.tests };
    const saved = await savePolicy(tx, call, {
      networkId: network.id,
      before,
      after,
      checks: "wanted",
      note,
      at: now,
    });
    return saved.ok ? ok(view) : saved;
  });
}

const TOO_MANY = {
  code: "invalid_input",
  items: [{ pointer: "", code: "too_big", message: `a policy has at most ${RULES_MAX} rules; remove some first` }],
} as const;
