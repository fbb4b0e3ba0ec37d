import { ruleIds } from "@weft/protocol";
import type { NetworkId, RandomBytes } from "@weft/protocol";
import type { Rule } from "../../db/rules-repository.ts";
import type { InputOf } from "../../registry/handler.ts";
import { policyTestOf, selectorOf } from "../../registry/policy-schemas.ts";
import type { Policy } from "../../registry/save-policy.ts";
import type { policyContract } from "./contract.ts";

type Document = Pick<InputOf<typeof policyContract.replace>, "rules" | "tests">;

/**
 * The policy that a document means. Rules that name one of `known` go on as that one; a rule that names another id is new
 * and gets that id, so that a kept version comes back as it was.
 */
export function policyFrom(
  document: Document,
  context: {
    readonly networkId: NetworkId;
    readonly known: readonly Rule[];
    readonly now: Date;
    readonly random: RandomBytes;
  },
): Policy {
  const { networkId, known, now, random } = context;
  const byId = new Map<string, Rule>(known.map((rule) => [rule.id, rule]));
  const rules = document.rules.map(({ id, source, destination, ...said }, place): Rule => {
    const old = id === undefined ? undefined : byId.get(id);
    const own = id !== undefined && ruleIds.is(id) ? id : ruleIds.make(random);
    const sides = { source: selectorOf(source), destination: selectorOf(destination) };
    return { ...said, ...sides, id: own, networkId, place, createdAt: old?.createdAt ?? now };
  });
  return { rules, tests: document.tests.map(policyTestOf) };
}

/** The place of a rule that stands twice in a document, with its id; `undefined` when none does. */
export function repeatedRule({ rules }: Document): { readonly place: number; readonly id: string } | undefined {
  const seen = new Set<string>();
  for (const [place, { id }] of rules.entries()) {
    if (id === undefined) continue;
    if (seen.has(id)) return { place, id };
    seen.add(id);
  }
  return undefined;
}
