import type { TunnelCounters } from "@weft/dataplane";
import { COUNTER_RULES_MAX, type RuleCounters } from "@weft/protocol";

import { ageOrNull, valueAt } from "./counter-report.ts";

/** Remembers what the server was told of rules, so that only what was met since is told. */
export type RuleReporter = {
  /** At most `COUNTER_RULES_MAX`; the others come with the next reports. */
  readonly changed: (counters: Pick<TunnelCounters, "rules">) => readonly RuleCounters[];
  /** Nothing counts as told. */
  readonly reset: () => void;
};

export function createRuleReporter(): RuleReporter {
  let told = new Map<number, RuleCounters>();
  return {
    changed(counters) {
      const rules = ruleCounters(counters);
      const news = [...rules.values()].filter((now) => isNews(told.get(now.rule), now)).slice(0, COUNTER_RULES_MAX);
      // Rules that are gone are forgotten.
      told = new Map([...told].filter(([rule]) => rules.has(rule)));
      for (const rule of news) told.set(rule.rule, rule);
      return news;
    },
    reset: () => told.clear(),
  };
}

/** What met each rule. The engine has a row for each way that a rule of the policy became. */
export function ruleCounters({ rules }: Pick<TunnelCounters, "rules">): ReadonlyMap<number, RuleCounters> {
  const cell = (row: number, name: string): bigint => {
    const column = rules.columns.indexOf(name);
    return column < 0 ? 0n : valueAt(rules, row, column);
  };
  const sums = new Map<number, RuleCounters>();
  for (let row = 0; row < rules.rows; row += 1) {
    const rule = Number(cell(row, "rule"));
    const before = sums.get(rule);
    const age = ageOrNull(cell(row, "lastHitAgeMs"));
    const ages = [before?.lastHitAgeMs ?? null, age].filter((one) => one !== null);
    sums.set(rule, {
      rule,
      packets: (before?.packets ?? 0n) + cell(row, "packets"),
      bytes: (before?.bytes ?? 0n) + cell(row, "bytes"),
      drops: (before?.drops ?? 0n) + cell(row, "drops"),
      flows: (before?.flows ?? 0n) + cell(row, "flows"),
      lastHitAgeMs: ages.length > 0 ? Math.min(...ages) : null,
    });
  }
  return sums;
}

function isNews(before: RuleCounters | undefined, now: RuleCounters): boolean {
  if (!before) return now.lastHitAgeMs !== null;
  return now.packets !== before.packets || now.drops !== before.drops || now.flows !== before.flows;
}
