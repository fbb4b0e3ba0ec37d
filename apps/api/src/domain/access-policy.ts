import { type FilterRule, type PeerId, ruleIds } from "@weft/protocol";
import type { PolicyProtocol, PolicyRule } from "./policy-rule.ts";

/** What the rules of a network allow, compiled once per change of the rules. */
export type AccessPolicy = {
  /** Some traffic between members is allowed. */
  readonly allowsAny: boolean;
  /** Packet rules; the same for every node while rules are between all members. */
  readonly filter: readonly FilterRule[];
};

/** Compiles rules in the order in which they are asked. No rule allows nothing. */
export function compilePolicy(rules: readonly PolicyRule[]): AccessPolicy {
  const active = rules.filter(({ state }) => state === "on");
  return { allowsAny: active.some(({ action }) => action === "allow"), filter: active.map(filterRule) };
}

/** True when `viewer` may know of `other`: some traffic between them is allowed in one direction. */
export function maySee(policy: AccessPolicy, viewer: PeerId, other: PeerId): boolean {
  return viewer !== other && policy.allowsAny;
}

/** Packet rules of one node. What no rule allows, the engine drops. */
export function filterFor(policy: AccessPolicy): readonly FilterRule[] {
  return policy.filter;
}

function filterRule(rule: PolicyRule): FilterRule {
  return {
    id: ruleNumber(rule),
    action: rule.action,
    direction: "both",
    protocol: rule.protocol === null ? null : PROTOCOL_NUMBERS[rule.protocol],
    source: null,
    destination: null,
    ports: rule.ports,
    ...(rule.icmpType !== null && { icmp: { type: rule.icmpType, code: rule.icmpCode } }),
  };
}

/** What nodes call a rule: the same wherever it stands, so that its counts go on when others change. */
export function ruleNumber({ id }: Pick<PolicyRule, "id">): number {
  const [a = 0, b = 0, c = 0] = ruleIds.toBytes(id).subarray(-3);
  return a * 65_536 + b * 256 + c;
}

const PROTOCOL_NUMBERS = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132 } as const satisfies Record<
  PolicyProtocol,
  number
>;
