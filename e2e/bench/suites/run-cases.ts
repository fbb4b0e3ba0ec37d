import type { Contender } from "../contenders/contender.ts";
import { toCaseReport, type CaseReport, type Skipped } from "../report.ts";
import type { RoundSample } from "../ratios.ts";
import { createSite } from "../site.ts";
import type { Entrant, Sample, TunnelCase } from "./suite.ts";
import { planVisits, type Visit } from "./visits.ts";

export type RunSettings = {
  readonly cases: readonly TunnelCase[];
  readonly contenders: readonly Contender[];
  readonly wants: (caseName: string, contender: string) => boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly progress: (line: string) => void;
};

export type Outcome = {
  readonly cases: readonly CaseReport[];
  readonly skipped: readonly Skipped[];
  readonly problems: readonly string[];
  readonly linkOffloads: string;
  /** What the sessions of contenders carry that negotiate it. */
  readonly profiles: string;
};

/** Starts every contender at a site of its own, runs the cases interleaved, and removes the sites. */
export async function runCases(settings: RunSettings): Promise<Outcome> {
  const started = await startAll(settings);
  const { entrants, linkOffloads } = started;
  try {
    const measured = await measureAll(settings, entrants);
    const limits = settings.cases.flatMap((testCase) => rawLinkProblems(testCase, measured.rows));
    const problems = [...started.problems, ...measured.problems, ...limits, ...deaths(entrants)];
    const profiles = entrants.flatMap(({ contender, tunnel }) =>
      tunnel.profile === undefined ? [] : [`${contender.name}: ${tunnel.profile}`],
    );
    return { cases: measured.rows, skipped: started.skipped, problems, linkOffloads, profiles: profiles.join("; ") };
  } finally {
    for (const { tunnel } of entrants) await tunnel.stop();
    for (const { site } of entrants) await site.dispose();
  }
}

/** All visits in their order. A run that fails or is unsound is a problem; the others go on. */
async function measureAll(settings: RunSettings, entrants: readonly Entrant[]) {
  const { cases, wants, rounds, seconds, progress } = settings;
  const visits = planVisits({ cases, contenders: entrants.map(({ contender }) => contender.name), rounds, wants });
  const samples = new Map<string, RoundSample[]>();
  const problems: string[] = [];
  for (const [index, visit] of visits.entries()) {
    const { testCase, entrant } = resolve(visit, settings, entrants);
    const where = `${visit.caseName}, ${visit.contender}`;
    try {
      const sample = await runOnce(testCase, entrant, seconds);
      const key = keyOf(visit);
      samples.set(key, [...(samples.get(key) ?? []), { ...sample, round: visit.round }]);
      if (sample.problem !== undefined) problems.push(`${where}: ${sample.problem}`);
      const count = `[${String(index + 1)}/${String(visits.length)}]`;
      progress(`${count} round ${String(visit.round)}, ${where}: ${sample.value.toFixed(2)} ${testCase.unit}`);
    } catch (error) {
      problems.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
      progress(`${where} failed: ${problems.at(-1) ?? ""}`);
    }
  }
  return { rows: await toRows(settings, entrants, samples), problems };
}

async function toRows(
  { cases, seconds }: RunSettings,
  entrants: readonly Entrant[],
  samples: ReadonlyMap<string, readonly RoundSample[]>,
): Promise<CaseReport[]> {
  const rows: CaseReport[] = [];
  for (const testCase of cases) {
    for (const { contender, site, tunnel } of entrants) {
      const measured = samples.get(keyOf({ caseName: testCase.name, contender: contender.name })) ?? [];
      if (measured.length === 0) continue;
      const sound = tunnel.whyBroken() === undefined;
      const late = sound ? await testCase.afterwards?.({ site, tunnel, seconds }) : undefined;
      const inOrder = measured
        .map(({ round, value, extra }) => ({ round, value, extra }))
        .toSorted((left, right) => left.round - right.round);
      const { name, unit } = testCase;
      rows.push(toCaseReport({ name, unit, contender: contender.name, samples: inOrder, late: late ?? {} }));
    }
  }
  return rows;
}

/**
 * Says for which contenders the bare link was the limit.
 *
 * A tunnel that reaches almost the speed of the bare link measures the link.
 */
export function rawLinkProblems(
  testCase: Pick<TunnelCase, "name" | "rawLink">,
  allRows: readonly Pick<CaseReport, "name" | "contender" | "median" | "unit">[],
): string[] {
  if (testCase.rawLink === "is not a limit") return [];
  const rows = allRows.filter(({ name }) => name === testCase.name);
  const raw = rows.find((row) => row.contender === "raw veth");
  if (!raw) return [];
  return rows
    .filter((row) => row !== raw && row.median * RAW_MARGIN > raw.median)
    .map((row) => `${testCase.name}, ${row.contender}: the raw link was the limit (${String(raw.median)} ${raw.unit})`);
}

async function startAll(settings: RunSettings) {
  const entrants: Entrant[] = [];
  const skipped: Skipped[] = [];
  const problems: string[] = [];
  let linkOffloads = "";
  for (const contender of settings.contenders) {
    if (!settings.cases.some(({ name }) => settings.wants(name, contender.name))) continue;
    const site = await createSite();
    linkOffloads = Object.entries(site.defaultOffloads).flat().join(" ");
    const started = await startOne(contender, site);
    if (started.ok) {
      entrants.push({ contender, site, tunnel: started.tunnel });
      settings.progress(`${contender.name} is up`);
      continue;
    }
    if (started.failed) problems.push(`${contender.name} did not start: ${started.reason}`);
    else skipped.push({ contender: contender.name, reason: started.reason });
    settings.progress(`${contender.name} skipped: ${started.reason}`);
    await site.dispose();
  }
  return { entrants, skipped, problems, linkOffloads };
}

async function startOne(contender: Contender, site: Entrant["site"]) {
  try {
    const started = await contender.start(site);
    return started.ok ? started : { ...started, failed: false };
  } catch (error) {
    return { ok: false, failed: true, reason: error instanceof Error ? error.message : String(error) } as const;
  }
}

async function runOnce(testCase: TunnelCase, { site, tunnel }: Entrant, seconds: number): Promise<Sample> {
  const broken = tunnel.whyBroken();
  if (broken !== undefined) throw new Error(broken);
  await site.setCable(testCase.cable);
  return testCase.run({ site, tunnel, seconds });
}

function resolve(visit: Visit, { cases }: RunSettings, entrants: readonly Entrant[]) {
  const testCase = cases.find(({ name }) => name === visit.caseName);
  const entrant = entrants.find(({ contender }) => contender.name === visit.contender);
  if (!testCase || !entrant) throw new Error(`planned but not there: ${visit.caseName}, ${visit.contender}`);
  return { testCase, entrant };
}

function keyOf({ caseName, contender }: Pick<Visit, "caseName" | "contender">): string {
  return `${caseName}\n${contender}`;
}

function deaths(entrants: readonly Entrant[]): string[] {
  return entrants.flatMap(({ contender, tunnel }) => {
    const reason = tunnel.whyBroken();
    return reason === undefined ? [] : [`${contender.name}: ${reason}`];
  });
}

const RAW_MARGIN = 1.1;
