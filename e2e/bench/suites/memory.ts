import { setTimeout as pause } from "node:timers/promises";

import { startProgram } from "../../harness/programs.ts";
import { residentBytes } from "../../harness/process-usage.ts";
import { iperfTcp } from "../load/iperf.ts";
import { IPERF_PORT } from "../site.ts";
import { plainSamples, toCaseReport, type CaseReport } from "../report.ts";
import { RAW_LINK } from "../wants.ts";
import { MANY_PEERS_CASES, measureManyPeers } from "./many-peers.ts";
import { runTunnelCases } from "./run-tunnel-cases.ts";
import type { CaseContext, Sample, TunnelCase } from "./suite.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** Resident memory: of agents idle and under load beside a bare Node process, and with many silent peers. */
export async function runMemorySuite(context: SuiteContext): Promise<SuiteBody> {
  const wants: SuiteContext["wants"] = (name, contender) => contender !== RAW_LINK && context.wants(name, contender);
  const body = await runTunnelCases(daemonCases(), { ...context, wants });
  const cases: CaseReport[] = [...body.cases];
  if (wants("rss-idle", "bare Node")) {
    const runs: number[] = [];
    for (let turn = 1; turn <= context.options.rounds; turn += 1) runs.push(await bareNodeMegabytes());
    cases.push(toCaseReport({ name: "rss-idle", contender: "bare Node", unit: "MB", samples: plainSamples(runs) }));
  }
  const many = await measureManyPeers({ ...context, wants });
  return { ...body, cases: [...cases, ...many.cases], skipped: [...body.skipped, ...many.skipped] };
}

/** The larger of the two daemons: idle, then its peak under four streams and load in both directions. */
function daemonCases(): TunnelCase[] {
  const common = { unit: "MB", cable: "veth", rawLink: "is not a limit" } as const;
  return [
    { ...common, name: "rss-idle", group: "idle", run: rssIdle },
    { ...common, name: "rss-loaded", group: "loaded", run: rssLoaded },
  ];
}

/** Resident memory of a Node process that does nothing, in MB: what every Node program starts from. */
async function bareNodeMegabytes(): Promise<number> {
  const program = startProgram({
    name: "bare Node",
    program: process.execPath,
    args: ["--eval", "setInterval(() => {}, 1e9); console.log('ready')"],
  });
  await program.waitForLine("ready", 5_000, (line) => (line === "ready" ? true : undefined));
  await pause(SETTLE_MS);
  const megabytes = residentBytes(program.pid) / 1e6;
  await program.stop();
  return megabytes;
}

async function rssIdle({ tunnel, seconds }: CaseContext): Promise<Sample> {
  await pause(seconds * 1_000);
  return { value: largest(tunnel.daemonPids), extra: {} };
}

async function rssLoaded({ site, tunnel, seconds }: CaseContext): Promise<Sample> {
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, largest(tunnel.daemonPids));
  };
  const watch = setInterval(look, LOOK_MS);
  try {
    for (const flags of [["--parallel", "4"], ["--bidir"]]) {
      await iperfTcp({ from: site.a, to: tunnel.v4.b, seconds, port: IPERF_PORT, flags });
    }
  } finally {
    clearInterval(watch);
  }
  const afterwards = largest(tunnel.daemonPids);
  return { value: Math.max(peak, afterwards), extra: { afterwards } };
}

function largest(pids: readonly number[]): number {
  return Math.max(...pids.map((pid) => residentBytes(pid) / 1e6));
}

/** Names of all cases of the suite. */
export const MEMORY_CASES = [...daemonCases().map(({ name }) => name), ...MANY_PEERS_CASES];
const SETTLE_MS = 500;
const LOOK_MS = 200;
