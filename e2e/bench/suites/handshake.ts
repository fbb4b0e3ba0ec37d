import { existsSync } from "node:fs";
import { z } from "zod";

import { repositoryPath } from "../../harness/repository.ts";
import { mustRun } from "../../harness/run-command.ts";
import { plainSamples, toCaseReport } from "../report.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/**
 * Runs the data plane's own handshake benchmark as a program, once per round.
 *
 * It prints one JSON line {"cases": [{"name", "unit", "value"}]}.
 */
export async function runHandshakeSuite({ options, wants, progress }: SuiteContext): Promise<SuiteBody> {
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
      if (!wants(name, "weft")) continue;
      const row = measured.get(name) ?? { unit, runs: [] };
      row.runs.push(value);
      measured.set(name, row);
      progress(`${name} ${String(turn)}/${String(rounds)} weft: ${value.toFixed(1)} ${unit}`);
    }
  }
  const cases = [...measured].map(([name, { unit, runs }]) =>
    toCaseReport({ name, contender: "weft", unit, samples: plainSamples(runs) }),
  );
  return { settings, cases, skipped: [], problems: [] };
}

/** Names of all cases of the suite. */
export const HANDSHAKE_CASES = ["responder", "responder, first contact", "stranger refused"];
const HandshakeOutput = z.object({
  cases: z.array(z.object({ name: z.string(), unit: z.string(), value: z.number() })),
});
