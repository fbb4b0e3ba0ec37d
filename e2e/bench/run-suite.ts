import { HANDSHAKE_BARS, LATENCY_BARS, MEMORY_BARS, TUNNEL_BARS } from "./bars.ts";
import { allContenders } from "./contenders/all.ts";
import type { Contender } from "./contenders/contender.ts";
import { describeHost, repositoryVersion } from "./host-facts.ts";
import { isWanted, type BenchOptions } from "./options.ts";
import { computeRatios, type Bar } from "./ratios.ts";
import { toCaseReport, type BenchReport } from "./report.ts";
import { INNER_MTU } from "./settings.ts";
import { runHandshakeSuite } from "./suites/handshake.ts";
import { latencyCases } from "./suites/latency-cases.ts";
import { MANY_PEERS_CASES, measureManyPeers } from "./suites/many-peers.ts";
import { bareNodeMegabytes, memoryCases } from "./suites/memory.ts";
import { runCases } from "./suites/run-cases.ts";
import type { TunnelCase } from "./suites/suite.ts";
import { tunnelCases } from "./suites/tunnel-cases.ts";

type Progress = (line: string) => void;
type Body = Pick<BenchReport, "settings" | "cases" | "skipped" | "problems"> & { readonly bars: readonly Bar[] };

/** Runs a suite and returns its report. */
export async function runSuite(options: BenchOptions, progress: Progress): Promise<BenchReport> {
  const host = describeHost();
  const startedAt = new Date().toISOString();
  const { bars, ...body } = await runBody(options, progress);
  return {
    suite: options.suite,
    version: repositoryVersion(),
    startedAt,
    host,
    ...body,
    ratios: computeRatios(bars, body.cases),
  };
}

async function runBody(options: BenchOptions, progress: Progress): Promise<Body> {
  switch (options.suite) {
    case "tunnel":
      return { ...(await runTunnels(options, tunnelCases(), progress)), bars: TUNNEL_BARS };
    case "latency":
      return { ...(await runTunnels(options, latencyCases(), progress)), bars: LATENCY_BARS };
    case "memory":
      return { ...(await runMemory(options, progress)), bars: MEMORY_BARS };
    case "handshake":
      return { ...(await runHandshakeSuite(options, progress)), bars: HANDSHAKE_BARS };
  }
}

async function runTunnels(
  options: BenchOptions,
  cases: readonly TunnelCase[],
  progress: Progress,
): Promise<Omit<Body, "bars">> {
  const contenders = chooseContenders(options);
  const { rounds, seconds } = options;
  const unknown = options.cases.filter((name) => !cases.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new Error(`no such case: ${unknown.join(", ")}. The suite has: ${cases.map(({ name }) => name).join(", ")}`);
  }
  const outcome = await runCases({ cases, contenders, wantedCases: options.cases, rounds, seconds, progress });
  return {
    settings: {
      rounds,
      seconds,
      innerMtu: INNER_MTU,
      congestionControl: "cubic",
      droppedSeconds: 1,
      cipher: "ChaCha20-Poly1305",
      linkOffloads: outcome.linkOffloads,
    },
    cases: outcome.cases,
    skipped: outcome.skipped,
    problems: outcome.problems,
  };
}

async function runMemory(options: BenchOptions, progress: Progress): Promise<Omit<Body, "bars">> {
  const manyNames = new Set<string>(MANY_PEERS_CASES.map(([name]) => name));
  const cases = options.cases.filter((name) => !manyNames.has(name));
  const onlyMany = options.cases.length > 0 && cases.length === 0;
  const body = await runTunnels({ ...options, cases }, onlyMany ? [] : memoryCases(), progress);
  const bare = await bareNodeMegabytes();
  progress(`bare Node: ${bare.toFixed(1)} MB`);
  const row = toCaseReport({ name: "rss-idle", contender: "bare Node", unit: "MB", runs: [bare] });
  const many = await measureManyPeers(options, progress);
  return {
    ...body,
    cases: [...body.cases.filter(({ contender }) => contender !== "raw veth"), row, ...many.cases],
    skipped: [...body.skipped, ...many.skipped],
  };
}

/** The contenders that were asked for, always with the bare link first: it is measured in every run. */
function chooseContenders(options: BenchOptions): Contender[] {
  const all = allContenders();
  const unknown = options.contenders.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new Error(`no such contender: ${unknown.join(", ")}. There are: ${all.map(({ name }) => name).join(", ")}`);
  }
  return all.filter(({ name }) => name === "raw veth" || isWanted(name, options.contenders));
}
