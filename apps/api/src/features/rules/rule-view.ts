import type { Rule } from "../../db/rules-repository.ts";

/** A rule as callers see it. */
export function ruleView(rule: Rule) {
  return { id: rule.id, networkId: rule.networkId, kind: rule.kind, createdAt: rule.createdAt.toISOString() };
}
