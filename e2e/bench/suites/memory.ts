import { setTimeout as pause } from "node:timers/promises";

import { startProgram } from "../../harness/programs.ts";
import { residentBytes } from "../../harness/process-usage.ts";
import { iperfTcp } from "../load/iperf.ts";
import { IPERF_PORT } from "../site.ts";
import type { CaseContext, Sample, TunnelCase } from "./suite.ts";

/** Resident memory of the larger of the two daemons: idle, then after four streams and load in both directions. */
export function memoryCases(): TunnelCase[] {
  const common = { unit: "MB", cable: "veth", rawLink: "is not a limit" } as const;
  return [
    { ...common, name: "rss-idle", run: rssIdle },
    { ...common, name: "rss-after-load", run: rssAfterLoad },
  ];
}

/** Resident memory of a Node process that does nothing, in MB: what every Node program starts from. */
export async function bareNodeMegabytes(): Promise<number> {
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
  if (tunnel.daemonPids.length === 0) return { value: 0, extra: {} };
  await pause(seconds * 1_000);
  return largest(tunnel.daemonPids);
}

async function rssAfterLoad({ site, tunnel, seconds }: CaseContext): Promise<Sample> {
  for (const flags of [["--parallel", "4"], ["--bidir"]]) {
    await iperfTcp({ from: site.a, to: tunnel.v4.b, seconds, port: IPERF_PORT, flags });
  }
  return tunnel.daemonPids.length === 0 ? { value: 0, extra: {} } : largest(tunnel.daemonPids);
}

function largest(pids: readonly number[]): Sample {
  return { value: Math.max(...pids.map((pid) => residentBytes(pid) / 1e6)), extra: {} };
}

const SETTLE_MS = 500;
