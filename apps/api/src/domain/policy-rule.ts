import type { GroupId, PeerId, PortRange, RuleId } from "@weft/protocol";

/** Whom one side of a rule speaks about. A group nobody belongs to, and a peer that is gone, is nobody. */
export type Selector =
  | { readonly kind: "all" }
  | { readonly kind: "group"; readonly id: GroupId }
  | { readonly kind: "peer"; readonly id: PeerId };

/** A rule of a network, as far as packets are concerned. */
export type PolicyRule = {
  readonly id: RuleId;
  readonly action: "allow" | "deny";
  readonly state: "on" | "off";
  readonly source: Selector;
  readonly destination: Selector;
  /** "one-way": only the source may begin; answers pass. "both-ways": either side may. */
  readonly direction: RuleDirection;
  readonly protocol: PolicyProtocol | null;
  /** Destination ports of TCP or UDP; `null` = any. */
  readonly ports: readonly PortRange[] | null;
  readonly icmpType: number | null;
  readonly icmpCode: number | null;
};

export const RULE_DIRECTIONS = ["one-way", "both-ways"] as const;
export type RuleDirection = (typeof RULE_DIRECTIONS)[number];

/** Protocols by name; `icmp` is the one of IPv4. */
export const POLICY_PROTOCOLS = ["tcp", "udp", "icmp", "icmpv6", "sctp"] as const;
export type PolicyProtocol = (typeof POLICY_PROTOCOLS)[number];

/** Both sides of rules that leave them out. */
export const ALL: Selector = { kind: "all" };

/** A selector as one word, equal for equal selectors. */
export function selectorKey(selector: Selector): string {
  return selector.kind === "all" ? "all" : selector.id;
}

/** Why a rule makes no sense, with the field to change; `null` when it does. */
export function ruleFault(
  rule: Pick<PolicyRule, "protocol" | "ports" | "icmpType" | "icmpCode">,
): { readonly field: "ports" | "icmpType" | "icmpCode"; readonly reason: string } | null {
  const { protocol, ports, icmpType, icmpCode } = rule;
  if (ports && protocol !== "tcp" && protocol !== "udp") {
    return { field: "ports", reason: "only tcp and udp have ports; choose one of them or leave the ports out" };
  }
  const upsideDown = ports?.find(({ low, high }) => low > high);
  if (upsideDown) {
    return { field: "ports", reason: `the range ${upsideDown.low}-${upsideDown.high} ends before it begins` };
  }
  if (icmpType !== null && protocol !== "icmp" && protocol !== "icmpv6") {
    return { field: "icmpType", reason: "only icmp and icmpv6 have types; choose one of them or leave the type out" };
  }
  if (icmpCode !== null && icmpType === null) {
    return { field: "icmpCode", reason: "a code belongs to a type; name the type, too" };
  }
  return null;
}
