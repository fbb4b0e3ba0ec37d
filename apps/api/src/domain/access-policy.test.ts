import { type PeerId, peerIds, ruleIds } from "@weft/protocol";
import { expect, test } from "vitest";
import { compilePolicy, filterFor, maySee } from "./access-policy.ts";
import type { PolicyRule } from "./policy-rule.ts";

const random = (fill: number) => (count: number) => new Uint8Array(count).fill(fill);
const [here, there]: [PeerId, PeerId] = [peerIds.make(random(1)), peerIds.make(random(2))];

function aRule(change: Partial<PolicyRule> = {}): PolicyRule {
  const nothing = { protocol: null, ports: null, icmpType: null, icmpCode: null };
  return { id: ruleIds.make(random(3)), action: "allow", state: "on", ...nothing, ...change };
}

test("AP-28 no rule, rules that are off and rules that deny show nobody and allow nothing", () => {
  for (const rules of [[], [aRule({ state: "off" })], [aRule({ action: "deny" })]]) {
    const policy = compilePolicy(rules);
    expect(maySee(policy, here, there)).toBe(false);
    expect(filterFor(policy).some(({ action }) => action === "allow")).toBe(false);
  }
});

test("a rule for one port lets members see each other, but never themselves", () => {
  const policy = compilePolicy([aRule({ protocol: "tcp", ports: [{ low: 443, high: 443 }] })]);
  expect(maySee(policy, here, there)).toBe(true);
  expect(maySee(policy, here, here)).toBe(false);
});

test("a rule keeps its number when others come and go", () => {
  const [first, second] = [aRule({ id: ruleIds.make(random(4)) }), aRule({ id: ruleIds.make(random(5)) })];
  const numberIn = (rules: readonly PolicyRule[]) => filterFor(compilePolicy(rules)).at(-1)?.id;
  expect(numberIn([first, second])).toBe(numberIn([second]));
  expect(numberIn([first])).not.toBe(numberIn([second]));
});
