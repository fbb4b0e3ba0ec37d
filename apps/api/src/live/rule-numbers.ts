import type { RuleId } from "@weft/protocol";
import { ruleNumber } from "../domain/access-policy.ts";
import type { NetworkMirror } from "./network-mirror.ts";

/** Rules by what nodes call them; made anew when the policy is another one. */
export function ruleNumbers(mirror: NetworkMirror): ReadonlyMap<number, RuleId> {
  const policy = mirror.policy();
  const known = numbers.get(policy) ?? new Map(policy.rules.map(({ rule }) => [ruleNumber(rule), rule.id]));
  numbers.set(policy, known);
  return known;
}

const numbers = new WeakMap<object, ReadonlyMap<number, RuleId>>();
