import { ruleNumber } from "../../domain/access-policy.ts";
import type { Rule } from "../../db/rules-repository.ts";

/** A rule as callers see it. */
export function ruleView(rule: Rule) {
  const { id, networkId, kind, name, description, action, state, protocol, icmpType, icmpCode, place } = rule;
  return {
    id,
    networkId,
    kind,
    name,
    description,
    action,
    state,
    protocol,
    ports: rule.ports?.map(({ low, high }) => ({ low, high })) ?? null,
    icmpType,
    icmpCode,
    number: ruleNumber(rule),
    place,
    createdAt: rule.createdAt.toISOString(),
  };
}
