import { findProgram } from "../harness/tools.ts";
import { startProgram } from "../harness/programs.ts";
import { iperfTcp } from "./load/iperf.ts";
import { measureUsage } from "./measure.ts";
import { IPERF_PORT } from "./site.ts";
import { round } from "./statistics.ts";
import type { CaseContext } from "./suites/suite.ts";

/**
 * System calls of both daemons per MB (10^6 bytes) that the tunnel delivered, counted in a run of its own.
 *
 * Counting slows a daemon down, so this run's speed is not reported. Empty without strace or without daemons.
 */
export async function countSyscalls(context: CaseContext): Promise<Record<string, number>> {
  const { site, tunnel } = context;
  if (findProgram("strace") === undefined || tunnel.daemonPids.length === 0) return {};
  const tracer = startProgram({
    name: "strace",
    program: "strace",
    args: ["-f", "-c", "-U", "calls,name", ...tunnel.daemonPids.flatMap((pid) => ["-p", String(pid)])],
  });
  await tracer.waitForLine("attached", 10_000, (line) => (line.includes("attached") ? true : undefined));
  const { usage } = await measureUsage(site, tunnel, () =>
    iperfTcp({ from: site.a, to: tunnel.v4.b, seconds: COUNTED_SECONDS, port: IPERF_PORT }),
  );
  tracer.signal("SIGINT");
  await tracer.ended;
  const total = totalCalls(tracer.logs());
  if (total === undefined || usage.deliveredBytes === 0) return {};
  return { syscallsPerMB: round(total / (usage.deliveredBytes / 1e6)) };
}

/** The sum that strace prints in the last line of its table of calls; `undefined` when there is no table. */
export function totalCalls(output: string): number | undefined {
  const total = /^\s*(\d+) total\s*$/m.exec(output)?.[1];
  return total === undefined ? undefined : Number(total);
}

const COUNTED_SECONDS = 2;
