import type { Rule } from "./types.ts";

/** True when the rule lets something pass right now. */
export function letsPass(rule: Pick<Rule, "state" | "action">): boolean {
  return rule.state === "on" && rule.action === "allow";
}

/** True when the rule lets every packet pass right now. */
export function isOpen(rule: Pick<Rule, "state" | "action" | "protocol" | "kind">): boolean {
  return letsPass(rule) && rule.protocol === null && rule.kind === "all-to-all";
}
