import { CONTROL_PLANE_BARS, HANDSHAKE_BARS, HOSTILE_BARS, LATENCY_BARS, MEMORY_BARS, TUNNEL_BARS } from "./bars.ts";
import { allContenders } from "./contenders/all.ts";
import { rawVeth } from "./contenders/raw-veth.ts";
import { shardContenders } from "./contenders/weft.ts";
import { describeHost, repositoryVersion } from "./host-facts.ts";
import type { BenchOptions, Suite } from "./options.ts";
import { computeRatios } from "./ratios.ts";
import type { BenchReport } from "./report.ts";
import { CONTROL_PLANE_CASES, runControlPlaneSuite } from "./suites/control-plane.ts";
import { HANDSHAKE_CASES, runHandshakeSuite } from "./suites/handshake.ts";
import { HOSTILE_CASES, runHostileSuite } from "./suites/hostile.ts";
import { latencyCases } from "./suites/latency-cases.ts";
import { MEMORY_CASES, runMemorySuite } from "./suites/memory.ts";
import { OFFLOAD_CASES, runOffloadSuite } from "./suites/offload.ts";
import { runTunnelCases } from "./suites/run-tunnel-cases.ts";
import { runSoakSuite, SOAK_CASES } from "./suites/soak.ts";
import type { TunnelCase } from "./suites/suite.ts";
import type { SuiteBody, SuiteRun, Wants } from "./suites/suite-run.ts";
import { shardCases } from "./suites/shard-cases.ts";
import { tunnelCases } from "./suites/tunnel-cases.ts";
import { wantsForBars, wantsNamed } from "./wants.ts";

/** Runs a suite and returns its report. */
export async function runSuite(options: BenchOptions, progress: Progress): Promise<BenchReport> {
  const host = describeHost();
  const startedAt = new Date().toISOString();
  const { body, ratios } =
    options.suite === "bars"
      ? await runBars(options, progress)
      : await runOne(options.suite, { options, chooseWants: () => wantsNamed(options) }, progress);
  return { suite: options.suite, version: repositoryVersion(), startedAt, host, ...body, ratios };
}

type Chosen = { readonly options: BenchOptions; readonly chooseWants: (suite: SuiteRun) => Wants };

async function runOne(name: SingleSuite, { options, chooseWants }: Chosen, progress: Progress) {
  const suite = SUITE_RUNS[name];
  const unknown = options.cases.filter((wanted) => !suite.caseNames.includes(wanted));
  if (unknown.length > 0)
    throw new Error(`no such case: ${unknown.join(", ")}. The suite has: ${suite.caseNames.join(", ")}`);
  const unheard = options.contenders.filter((wanted) => !CONTENDER_NAMES.includes(wanted));
  if (unheard.length > 0)
    throw new Error(`no such contender: ${unheard.join(", ")}. There are: ${CONTENDER_NAMES.join(", ")}`);
  const body = await suite.run({ options, wants: chooseWants(suite), progress });
  return { body, ratios: computeRatios(suite.bars, body.cases) };
}

/** Every suite that has bars, one after the other, each only as far as its bars need it. */
async function runBars(options: BenchOptions, progress: Progress) {
  const chooseWants = ({ bars }: SuiteRun) => wantsForBars(bars, [...tunnelCases(), ...latencyCases()]);
  const bodies: SuiteBody[] = [];
  const ratios: ReturnType<typeof computeRatios> = [];
  for (const name of SUITES_WITH_BARS) {
    const startedMs = performance.now();
    const outcome = await runOne(name, { options, chooseWants }, progress).catch((error: unknown) =>
      failed(name, error),
    );
    bodies.push(outcome.body);
    ratios.push(...outcome.ratios);
    progress(`suite ${name} took ${((performance.now() - startedMs) / 60_000).toFixed(1)} min`);
  }
  const body: SuiteBody = {
    settings: Object.assign({}, ...bodies.map(({ settings }) => settings)),
    cases: bodies.flatMap(({ cases }) => cases),
    skipped: bodies.flatMap(({ skipped }) => skipped),
    problems: bodies.flatMap(({ problems }) => problems),
  };
  return { body, ratios };
}

/** What the other suites measured is worth having, also where one could not be run. */
function failed(name: SingleSuite, error: unknown): Awaited<ReturnType<typeof runOne>> {
  const problem = `suite ${name} failed: ${error instanceof Error ? error.message : String(error)}`;
  const body: SuiteBody = { settings: {}, cases: [], skipped: [], problems: [problem] };
  return { body, ratios: [] };
}

function tunnelSuite(cases: readonly TunnelCase[], bars: SuiteRun["bars"]): SuiteRun {
  return { caseNames: cases.map(({ name }) => name), bars, run: (context) => runTunnelCases(cases, context) };
}

function shardSuite(): SuiteRun {
  const cases = shardCases();
  return {
    caseNames: cases.map(({ name }) => name),
    bars: [],
    run: (context) => runTunnelCases(cases, context, [rawVeth, ...shardContenders()]),
  };
}

type Progress = (line: string) => void;
type SingleSuite = Exclude<Suite, "bars">;

const SUITE_RUNS: Readonly<Record<SingleSuite, SuiteRun>> = {
  tunnel: tunnelSuite(tunnelCases(), TUNNEL_BARS),
  latency: tunnelSuite(latencyCases(), LATENCY_BARS),
  shards: shardSuite(),
  memory: { caseNames: MEMORY_CASES, bars: MEMORY_BARS, run: runMemorySuite },
  hostile: { caseNames: HOSTILE_CASES, bars: HOSTILE_BARS, run: runHostileSuite },
  "control-plane": { caseNames: CONTROL_PLANE_CASES, bars: CONTROL_PLANE_BARS, run: runControlPlaneSuite },
  soak: { caseNames: SOAK_CASES, bars: [], run: runSoakSuite },
  offload: { caseNames: OFFLOAD_CASES, bars: [], run: runOffloadSuite },
  handshake: { caseNames: HANDSHAKE_CASES, bars: HANDSHAKE_BARS, run: runHandshakeSuite },
};
const SUITES_WITH_BARS = ["tunnel", "latency", "handshake", "memory", "hostile"] as const;
const CONTENDER_NAMES = [...[...allContenders(), ...shardContenders()].map(({ name }) => name), "bare Node", "micro"];
