import type { Rule } from "../../api/types.ts";
import { strings } from "../../strings/index.ts";

/** How dialogs and labels call a rule: its own name, else what it says. */
export function ruleTitle(rule: Rule): string {
  const text = strings.policy;
  if (rule.name !== "") return rule.name;
  const conditions = ruleConditions(rule);
  return [rule.action === "deny" ? text.deny : "", text.allToAll, conditions ?? ""]
    .filter((part) => part !== "")
    .join(" ");
}

/** Protocol, ports and type of a rule, as in `tcp 80, 8000–8080`; null when it covers everything. */
export function ruleConditions(rule: Pick<Rule, "protocol" | "ports" | "icmpType" | "icmpCode">): string | null {
  const text = strings.policy;
  if (rule.protocol === null) return null;
  const ports = rule.ports?.map(({ low, high }) => (low === high ? `${low}` : `${low}–${high}`)).join(", ");
  const type = rule.icmpType === null ? "" : text.icmpType(rule.icmpType, rule.icmpCode);
  return [text.protocols[rule.protocol], ports ?? "", type].filter((part) => part !== "").join(" ");
}
