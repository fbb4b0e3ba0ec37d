import { pageStrings } from "../strings/pages.ts";
import type { Rule } from "./types.ts";

/** How dialogs and labels call a rule: its own name, else what it says. */
export function ruleTitle(rule: Rule, names: SideNames): string {
  const text = pageStrings.policy;
  if (rule.name !== "") return rule.name;
  const conditions = ruleConditions(rule);
  const between = `${sideText(rule.source, names)} ${text.ways[rule.direction]} ${sideText(rule.destination, names)}`;
  return [rule.action === "deny" ? text.deny : "", between, conditions ?? ""].filter((part) => part !== "").join(" ");
}

/** What groups and peers are called, by id. */
export type SideNames = ReadonlyMap<string, string>;

/** Whom one side of a rule is about. */
export function sideText(side: Rule["source"], names: SideNames): string {
  const text = pageStrings.policy;
  return side.kind === "all" ? text.all : (names.get(side.id) ?? text.unknownSide[side.kind]);
}

/** A rule as a sentence. */
export function ruleSentence(rule: Rule, names: SideNames): string {
  const text = pageStrings.policy;
  const what = ruleConditions(rule) ?? text.everything;
  if (rule.kind === "all-to-all") return text.hints[rule.action](what);
  const [from, to] = [sideText(rule.source, names), sideText(rule.destination, names)];
  return text.between[rule.action](`${from} ${text.wayWords[rule.direction]} ${to}`, what);
}

/** Protocol, ports and type of a rule, as in `tcp 80, 8000–8080`; null when it covers everything. */
export function ruleConditions(rule: Pick<Rule, "protocol" | "ports" | "icmpType" | "icmpCode">): string | null {
  const text = pageStrings.policy;
  if (rule.protocol === null) return null;
  const ports = rule.ports?.map(({ low, high }) => (low === high ? `${low}` : `${low}–${high}`)).join(", ");
  const type = rule.icmpType === null ? "" : text.icmpType(rule.icmpType, rule.icmpCode);
  return [text.protocols[rule.protocol], ports ?? "", type].filter((part) => part !== "").join(" ");
}
