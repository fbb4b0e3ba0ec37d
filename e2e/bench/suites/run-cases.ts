import { toCaseReport, type CaseReport, type Skipped } from "../report.ts";
import { isWanted } from "../options.ts";
import type { Contender } from "../contenders/contender.ts";
import { createSite } from "../site.ts";
import { median, round } from "../statistics.ts";
import type { Entrant, Sample, TunnelCase } from "./suite.ts";

export type RunSettings = {
  readonly cases: readonly TunnelCase[];
  readonly contenders: readonly Contender[];
  readonly wantedCases: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly progress: (line: string) => void;
};

export type Outcome = {
  readonly cases: readonly CaseReport[];
  readonly skipped: readonly Skipped[];
  readonly problems: readonly string[];
  readonly linkOffloads: string;
};

/** Starts every contender at a site of its own, then runs the cases interleaved: each round visits every contender once. */
export async function runCases(settings: RunSettings): Promise<Outcome> {
  const { entrants, skipped, linkOffloads } = await startAll(settings);
  const cases: CaseReport[] = [];
  const problems: string[] = [];
  for (const testCase of settings.cases.filter(({ name }) => isWanted(name, settings.wantedCases))) {
    const measured = await runCase(testCase, entrants, settings);
    cases.push(...measured.rows);
    problems.push(...measured.problems, ...rawLinkProblems(testCase, measured.rows));
  }
  return { cases, skipped, problems: [...problems, ...deaths(entrants)], linkOffloads };
}

/** All rounds of one case. A run that fails or is unsound is a problem; the others go on. */
async function runCase(testCase: TunnelCase, entrants: readonly Entrant[], settings: RunSettings) {
  const { rounds, seconds, progress } = settings;
  const samples = new Map<string, Sample[]>();
  const problems: string[] = [];
  const visit = async (entrant: Entrant, turn: number): Promise<void> => {
    const { name } = entrant.contender;
    try {
      const sample = await runOnce(testCase, entrant, seconds);
      samples.set(name, [...(samples.get(name) ?? []), sample]);
      if (sample.problem !== undefined) problems.push(`${testCase.name}, ${name}: ${sample.problem}`);
      progress(`${testCase.name} ${turn}/${rounds} ${name}: ${sample.value.toFixed(2)} ${testCase.unit}`);
    } catch (error) {
      problems.push(`${testCase.name}, ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for (let turn = 1; turn <= rounds; turn += 1) {
    for (const entrant of entrants) await visit(entrant, turn);
  }
  const rows: CaseReport[] = [];
  for (const { contender, site, tunnel } of entrants) {
    const measured = samples.get(contender.name) ?? [];
    if (measured.length === 0) continue;
    const late = tunnel.whyBroken() === undefined ? await testCase.afterwards?.({ site, tunnel, seconds }) : undefined;
    rows.push(toRow(testCase, contender.name, { samples: measured, late: late ?? {} }));
  }
  return { rows, problems };
}

/**
 * Says for which contenders the bare link was the limit.
 *
 * A tunnel that reaches almost the speed of the bare link measures the link.
 */
export function rawLinkProblems(testCase: Pick<TunnelCase, "name" | "rawLink">, rows: readonly CaseReport[]): string[] {
  if (testCase.rawLink === "is not a limit") return [];
  const raw = rows.find((row) => row.contender === "raw veth");
  if (!raw) return [];
  return rows
    .filter((row) => row !== raw && row.median * RAW_MARGIN > raw.median)
    .map((row) => `${testCase.name}, ${row.contender}: the raw link was the limit (${String(raw.median)} ${raw.unit})`);
}

async function startAll(settings: RunSettings) {
  const entrants: Entrant[] = [];
  const skipped: Skipped[] = [];
  let linkOffloads = "";
  for (const contender of settings.contenders) {
    const site = await createSite();
    linkOffloads = Object.entries(site.defaultOffloads).flat().join(" ");
    const started = await contender.start(site);
    if (started.ok) {
      entrants.push({ contender, site, tunnel: started.tunnel });
      settings.progress(`${contender.name} is up`);
    } else {
      skipped.push({ contender: contender.name, reason: started.reason });
      settings.progress(`${contender.name} skipped: ${started.reason}`);
      await site.dispose();
    }
  }
  return { entrants, skipped, linkOffloads };
}

async function runOnce(testCase: TunnelCase, { site, tunnel }: Entrant, seconds: number): Promise<Sample> {
  const broken = tunnel.whyBroken();
  if (broken !== undefined) throw new Error(broken);
  await site.setCable(testCase.cable);
  return testCase.run({ site, tunnel, seconds });
}

type Measured = { readonly samples: readonly Sample[]; readonly late: Readonly<Record<string, number>> };

function toRow(testCase: TunnelCase, contender: string, { samples, late }: Measured): CaseReport {
  const names = Object.keys(samples[0]?.extra ?? {});
  const extra = names.map(
    (name) => [name, round(median(samples.map((sample) => sample.extra[name] ?? Number.NaN)))] as const,
  );
  return toCaseReport({
    name: testCase.name,
    contender,
    unit: testCase.unit,
    runs: samples.map(({ value }) => value),
    extra: { ...Object.fromEntries(extra.filter(([, value]) => Number.isFinite(value))), ...late },
  });
}

function deaths(entrants: readonly Entrant[]): string[] {
  return entrants.flatMap(({ contender, tunnel }) => {
    const reason = tunnel.whyBroken();
    return reason === undefined ? [] : [`${contender.name}: ${reason}`];
  });
}

const RAW_MARGIN = 1.1;
