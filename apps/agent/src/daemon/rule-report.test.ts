import { COUNTER_RULES_MAX } from "@weft/protocol";
import { expect, test } from "vitest";

import { createRuleReporter } from "./rule-report.ts";

const COLUMNS = ["rule", "packets", "bytes", "drops", "flows", "lastHitAgeMs"];
const NEVER = 2n ** 64n - 1n;

/** A table of the engine: rule, packets, bytes, drops, flows, age of the last hit. */
function table(...rows: readonly (readonly (number | bigint)[])[]) {
  return { rules: { columns: COLUMNS, rows: rows.length, values: BigUint64Array.from(rows.flat().map(BigInt)) } };
}

test("F-G9: the two ways of a rule are told as one, with the newer hit", () => {
  const told = createRuleReporter().changed(
    table([7, 2, 200, 0, 1, 500], [7, 3, 300, 1, 2, 20], [8, 0, 0, 0, 0, NEVER]),
  );

  expect(told).toEqual([{ rule: 7, packets: 5n, bytes: 500n, drops: 1n, flows: 3n, lastHitAgeMs: 20 }]);
});

test("F-G9: only rules that were met since are told, and all of them to a new stream", () => {
  const reporter = createRuleReporter();
  const now = table([7, 2, 200, 0, 1, 500], [8, 0, 0, 4, 1, 5]);
  expect(reporter.changed(now).map(({ rule }) => rule)).toEqual([7, 8]);
  expect(reporter.changed(table([7, 2, 200, 0, 1, 900], [8, 0, 0, 5, 1, 1])).map(({ rule }) => rule)).toEqual([8]);

  reporter.reset();

  expect(reporter.changed(now).map(({ rule }) => rule)).toEqual([7, 8]);
});

test("F-G9: many rules are told in turns of bounded size", () => {
  const reporter = createRuleReporter();
  const all = table(...Array.from({ length: COUNTER_RULES_MAX + 9 }, (_, rule) => [rule, 1, 1, 0, 1, 1]));

  expect(reporter.changed(all)).toHaveLength(COUNTER_RULES_MAX);
  expect(reporter.changed(all)).toHaveLength(9);
  expect(reporter.changed(all)).toHaveLength(0);
});
