import type { PeerId } from "@weft/protocol";
import { compilePolicy, decidingRule } from "./access-policy.ts";
import type { AccessPolicy, PolicyPeer } from "./access-policy.ts";
import type { PolicyProtocol, PolicyRule, Selector } from "./policy-rule.ts";

/** What must hold for a policy to be saved. */
export type PolicyTest = {
  readonly name: string;
  /** A peer, or any peer that belongs to just this group, or any peer without groups. */
  readonly from: Selector;
  readonly to: Selector;
  readonly protocol: PolicyProtocol | null;
  readonly port: number | null;
  readonly expect: "allow" | "deny";
};

/** What came out of a test. */
export type PolicyTestResult = {
  readonly name: string;
  readonly outcome: "passed" | "failed";
  /** Says what was expected, what is and which rule decides. */
  readonly reason: string;
};

/** Runs tests against rules; `members` are the peers that tests may name. */
export function runPolicyTests(
  rules: readonly PolicyRule[],
  tests: readonly PolicyTest[],
  members: ReadonlyMap<PeerId, PolicyPeer>,
): readonly PolicyTestResult[] {
  const policy = compilePolicy(rules);
  return tests.map((test) => ({ name: test.name, ...judge(policy, test, members) }));
}

function judge(
  policy: AccessPolicy,
  { from, to, protocol, port, expect }: PolicyTest,
  members: ReadonlyMap<PeerId, PolicyPeer>,
): Omit<PolicyTestResult, "name"> {
  const [source, destination] = [from, to].map((selector) => standIn(selector, members));
  if (!source || !destination) {
    return { outcome: "failed", reason: "a peer of this test is gone; change the test or remove it" };
  }
  const question = { to: policy.classOf(destination), packet: { protocol, port } };
  const rule = decidingRule(policy, policy.classOf(source), question);
  const verdict = rule?.action ?? "deny";
  const why = rule ? `rule ${rule.id} says ${verdict}` : "no rule speaks of it";
  return { outcome: verdict === expect ? "passed" : "failed", reason: `expected ${expect}; ${why}` };
}

/** The peer a test speaks of: a member, or one that nothing but its group says anything about. */
function standIn(selector: Selector, members: ReadonlyMap<PeerId, PolicyPeer>): PolicyPeer | undefined {
  switch (selector.kind) {
    case "all":
      return { id: NOBODY, groupIds: [] };
    case "group":
      return { id: NOBODY, groupIds: [selector.id] };
    case "peer":
      return members.get(selector.id);
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no member has an empty id, so no rule names it
const NOBODY = "" as PeerId;
