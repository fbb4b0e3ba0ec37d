import type { PortRange, RuleId } from "@weft/protocol";

/** A rule between all members of a network, as far as packets are concerned. */
export type PolicyRule = {
  readonly id: RuleId;
  readonly action: "allow" | "deny";
  readonly state: "on" | "off";
  readonly protocol: PolicyProtocol | null;
  /** Destination ports of TCP or UDP; `null` = any. */
  readonly ports: readonly PortRange[] | null;
  readonly icmpType: number | null;
  readonly icmpCode: number | null;
};

/** Protocols by name; `icmp` is the one of IPv4. */
export const POLICY_PROTOCOLS = ["tcp", "udp", "icmp", "icmpv6", "sctp"] as const;
export type PolicyProtocol = (typeof POLICY_PROTOCOLS)[number];

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
