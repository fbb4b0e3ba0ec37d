import { cleanUpNow } from "../harness/cleanup.ts";
import { whyNoNamespaces } from "../harness/tools.ts";
import { parseOptions, type BenchOptions } from "./options.ts";
import { formatReport, type BenchReport } from "./report.ts";
import { runSuite } from "./run-suite.ts";

/** Runs one suite. Exit code 0: valid, also when a bar is missed; 1: not to be trusted or impossible here; 2: wrong usage. */
async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  if (!options.ok) {
    process.stderr.write(`${options.error.message}\n`);
    return 2;
  }
  const reason = needsNamespaces(options.value) ? whyNoNamespaces(["iperf3", "ethtool", "taskset"]) : undefined;
  if (reason !== undefined) {
    process.stderr.write(`the suite ${options.value.suite} cannot run here: ${reason}\n`);
    return 1;
  }
  const report = await runSuite(options.value, (line) => process.stderr.write(`${line}\n`));
  print(options.value, report);
  return report.problems.length === 0 ? 0 : 1;
}

/** Simulated agents speak over loopback; only the tunnel of one case needs a host of its own. */
function needsNamespaces({ suite, cases }: BenchOptions): boolean {
  return suite !== "control-plane" || cases.length === 0 || cases.includes("peer-change");
}

function print(options: BenchOptions, report: BenchReport): void {
  process.stdout.write(options.output === "json" ? `${JSON.stringify(report)}\n` : `\n${formatReport(report)}\n`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await cleanUpNow();
  await new Promise((resolve) => process.stdout.write("", resolve));
  // Child pipes may still be draining; nothing more is to be done.
  process.exit();
}
