import { existsSync } from "node:fs";
import { z } from "zod";

import { repositoryPath } from "../../harness/repository.ts";
import { mustRun } from "../../harness/run-command.ts";
import { plainSamples, toCaseReport } from "../report.ts";
import { measureHandshakesOnWire, WIRE_CASE_NAMES } from "./handshake-wire.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/**
 * Handshakes: the data plane's own computing alone, by a program of its package, and whole responders over the wire.
 */
export async function runHandshakeSuite(context: SuiteContext): Promise<SuiteBody> {
  const { rounds, seconds } = context.options;
  const alone = CPU_CASES.some((name) => context.wants(name, "weft")) ? await measureAlone(context) : NOTHING;
  const wire = await measureHandshakesOnWire(context);
  return {
    settings: { rounds, seconds },
    cases: [...alone.cases, ...wire.cases],
    skipped: [...alone.skipped, ...wire.skipped],
    problems: wire.problems,
  };
}

async function measureAlone({ options, wants, progress }: SuiteContext): Promise<Pick<SuiteBody, "cases" | "skipped">> {
  const { rounds, seconds } = options;
  const program = repositoryPath("packages", "dataplane", "dist", "bench", "handshake.js");
  if (!existsSync(program)) return { cases: [], skipped: [{ contender: "weft", reason: `not built: ${program}` }] };
  const measured = new Map<string, { unit: string; runs: number[] }>();
  for (let turn = 1; turn <= rounds; turn += 1) {
    const output = await mustRun(process.execPath, [program, "--seconds", String(seconds)], { timeoutMs: 600_000 });
    const last = output.trim().split("\n").at(-1) ?? "";
    for (const { name, unit, value } of HandshakeOutput.parse(JSON.parse(last)).cases) {
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
  return { cases, skipped: [] };
}

const NOTHING = { cases: [], skipped: [] };
const CPU_CASES = ["responder", "responder, first contact", "stranger refused"];
/** Names of all cases of the suite. */
export const HANDSHAKE_CASES = [...CPU_CASES, ...WIRE_CASE_NAMES];
const HandshakeOutput = z.object({
  cases: z.array(z.object({ name: z.string(), unit: z.string(), value: z.number() })),
});
