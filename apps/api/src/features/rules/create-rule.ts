import { err, ok, ruleIds } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findOpenRule, insertRule, rulePlaces } from "../../db/rules-repository.ts";
import { ruleFault } from "../../domain/policy-rule.ts";
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
  const fault = ruleFault(input);
  if (fault) return err({ code: "rule_fault", ...fault });
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, input.networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const isOpen = input.action === "allow" && input.protocol === null;
    const existing = isOpen ? await findOpenRule(tx, network.id, input.state) : undefined;
    if (existing) return err({ code: "rule_exists", ruleId: existing.id });
    const { position, ...wanted } = input;
    const places = await rulePlaces(tx, network.id);
    const place = position === "first" ? places.first - 1 : places.last + 1;
    const rule = { ...wanted, place, id: ruleIds.make(deps.random), networkId: network.id, createdAt: now };
    await insertRule(tx, rule);
    await publishChanges(tx, network.id, { changes: [{ kind: "rules" }], at: now });
    const note = { action: "rules.create", objectId: rule.id, networkId: network.id };
    await recordAudit(tx, call, { ...note, before: null, after: ruleView(rule), at: now });
    return ok(ruleView(rule));
  });
}
