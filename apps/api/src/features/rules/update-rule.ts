import { err, ok } from "@weft/protocol";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findOpenRule, findRule } from "../../db/rules-repository.ts";
import type { Rule } from "../../db/rules-repository.ts";
import { transact } from "../../db/transact.ts";
import { ruleFault } from "../../domain/policy-rule.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { selectorOf } from "../../registry/policy-schemas.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy, savePolicy } from "../../registry/save-policy.ts";
import type { rulesContract } from "./contract.ts";
import { checkSides, isOpen } from "./rule-checks.ts";

/** Changes a rule; its id and number stay, so that nodes go on counting. */
export async function updateRule(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof rulesContract.update>,
): Outcome<typeof rulesContract.update> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findRule(tx, input.ruleId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const old = await findRule(tx, input.ruleId);
    if (!old || !networkId) return err({ code: "not_found", what: "rule" });
    const rule = changed(old, input);
    if (JSON.stringify(ruleView(old)) === JSON.stringify(ruleView(rule))) return ok(ruleView(old));
    const fault = ruleFault(rule);
    if (fault) return err({ code: "rule_fault", ...fault });
    const sides = await checkSides(tx, networkId, rule);
    if (!sides.ok) return sides;
    const existing = rule.state === "on" && isOpen(rule) ? await findOpenRule(tx, networkId, "on") : undefined;
    if (existing && existing.id !== rule.id) return err({ code: "rule_exists", ruleId: existing.id });
    const before = await readPolicy(tx, networkId);
    const rules = before.rules.map((other) => (other.id === rule.id ? rule : other));
    const note = { action: "rules.update", objectId: rule.id, networkId };
    const saved = await savePolicy(tx, call, {
      networkId,
      before,
      after: { rules, tests: before.tests },
      checks: "wanted",
      note: { ...note, before: ruleView(old), after: ruleView(rule) },
      at: now,
    });
    return saved.ok ? ok(ruleView(rule)) : saved;
  });
}

/** What is left out stays. */
function changed(old: Rule, input: InputOf<typeof rulesContract.update>): Rule {
  const { name, description, action, state, direction, protocol, ports, icmpType, icmpCode } = input;
  return {
    ...old,
    name: name ?? old.name,
    description: description ?? old.description,
    action: action ?? old.action,
    state: state ?? old.state,
    source: input.source ? selectorOf(input.source) : old.source,
    destination: input.destination ? selectorOf(input.destination) : old.destination,
    direction: direction ?? old.direction,
    protocol: protocol === undefined ? old.protocol : protocol,
    ports: ports === undefined ? old.ports : ports,
    icmpType: icmpType === undefined ? old.icmpType : icmpType,
    icmpCode: icmpCode === undefined ? old.icmpCode : icmpCode,
  };
}
