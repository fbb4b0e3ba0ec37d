import { existsSync } from "node:fs";
import { z } from "zod";

import { repositoryPath } from "../../harness/repository.ts";
import { mustRun } from "../../harness/run-command.ts";
import type { BenchOptions } from "../options.ts";
import { toCaseReport, type BenchReport } from "../report.ts";
import { round } from "../statistics.ts";

/**
 * Runs the data plane's own handshake benchmark as a program, once per round.
 *
 * It prints one JSON line {"cases": [{"name", "unit", "value"}]}.
 */
export async function runHandshakeSuite(
  options: BenchOptions,
  progress: (line: string) => void,
): Promise<Pick<BenchReport, "settings" | "cases" | "skipped" | "problems">> {
  const { rounds, seconds } = options;
  const settings = { rounds, seconds };
  const program = repositoryPath("packages", "dataplane", "dist", "bench", "handshake.js");
  if (!existsSync(program)) {
    return { settings, cases: [], skipped: [{ contender: "weft", reason: `not built: ${program}` }], problems: [] };
  }
  const measured = new Map<string, { unit: string; runs: number[] }>();
  for (let turn = 1; turn <= rounds; turn += 1) {
    const output = await mustRun(process.execPath, [program, "--seconds", String(seconds)], { timeoutMs: 600_000 });
    for (const { name, unit, value } of HandshakeOutput.parse(JSON.parse(output.trim().split("\n").at(-1) ?? ""))
      .cases) {
      const row = measured.get(name) ?? { unit, runs: [] };
      row.runs.push(round(value));
      measured.set(name, row);
      progress(`${name} ${String(turn)}/${String(rounds)} weft: ${value.toFixed(1)} ${unit}`);
    }
  }
  const cases = [...measured].map(([name, { unit, runs }]) => toCaseReport({ name, contender: "weft", unit, runs }));
  return { settings, cases, skipped: [], problems: [] };
}

const HandshakeOutput = z.object({
  cases: z.array(z.object({ name: z.string(), unit: z.string(), value: z.number() })),
});
