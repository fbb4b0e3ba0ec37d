import { ruleNumber } from "../domain/access-policy.ts";
import { ruleKind } from "../db/rules-repository.ts";
import type { Rule } from "../db/rules-repository.ts";

/** A rule as callers see it. */
export function ruleView(rule: Rule) {
  const { id, networkId, name, description, action, state, source, destination, direction } = rule;
  const { protocol, icmpType, icmpCode, place } = rule;
  return {
    id,
    networkId,
    kind: ruleKind(rule),
    name,
    description,
    action,
    state,
    source,
    destination,
    direction,
    protocol,
    ports: rule.ports?.map(({ low, high }) => ({ low, high })) ?? null,
    icmpType,
    icmpCode,
    number: ruleNumber(rule),
    place,
    createdAt: rule.createdAt.toISOString(),
  };
}
