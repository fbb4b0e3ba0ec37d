import type { NetworkId } from "@weft/protocol";
import type { PolicyTest } from "../../domain/policy-test.ts";
import { ruleView } from "../../registry/rule-view.ts";
import type { CurrentPolicy } from "../../registry/save-policy.ts";

/** A policy as callers see it. */
export function policyView(networkId: NetworkId, { version, author, at, rules, tests }: CurrentPolicy) {
  return {
    networkId,
    version,
    author,
    at: at?.toISOString() ?? null,
    rules: rules.map(ruleView),
    tests: tests.map(testView),
  };
}

function testView({ name, from, to, protocol, port, expect }: PolicyTest) {
  return { name, from, to, protocol, port, expect };
}
