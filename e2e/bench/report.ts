import type { Ratio, RoundSample } from "./ratios.ts";
import { median, round, summarise } from "./statistics.ts";

/** One measured row: a case run by one contender, once per round. Extra values are medians. */
export type CaseReport = {
  readonly name: string;
  readonly contender: string;
  readonly unit: string;
  readonly runs: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly extra: Readonly<Record<string, number>>;
  /** The single rounds, so that ratios pair values measured close together. */
  readonly samples: readonly RoundSample[];
};

export type Skipped = { readonly contender: string; readonly case?: string; readonly reason: string };

export type BenchHost = {
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly loadBefore: number;
};

/** What `--json` prints: one object per run. */
export type BenchReport = {
  readonly suite: string;
  readonly version: string;
  readonly startedAt: string;
  readonly host: BenchHost;
  readonly settings: Readonly<Record<string, number | string>>;
  readonly cases: readonly CaseReport[];
  readonly ratios: readonly Ratio[];
  readonly skipped: readonly Skipped[];
  /** Reasons why the run must not be trusted; empty in a valid run. */
  readonly problems: readonly string[];
};

export type MeasuredRow = {
  readonly name: string;
  readonly contender: string;
  readonly unit: string;
  readonly samples: readonly RoundSample[];
  /** Measured once, beside the rounds. */
  readonly late?: Readonly<Record<string, number>>;
};

/** Summarises the rounds of one row. */
export function toCaseReport({ late = {}, ...row }: MeasuredRow): CaseReport {
  const runs = row.samples.map(({ value }) => value);
  return { ...row, runs: runs.map(round), ...summarise(runs), extra: { ...medianExtras(row.samples), ...late } };
}

/** A row whose runs have nothing beside them, in the order of the rounds. */
export function plainSamples(runs: readonly number[]): RoundSample[] {
  return runs.map((value, index) => ({ round: index + 1, value, extra: {} }));
}

function medianExtras(samples: readonly RoundSample[]): Record<string, number> {
  const names = new Set(samples.flatMap(({ extra }) => Object.keys(extra)));
  const pairs = [...names].map((name) => {
    const values = samples.flatMap(({ extra }) => (Number.isFinite(extra[name]) ? [extra[name] ?? Number.NaN] : []));
    return [name, round(median(values))] as const;
  });
  return Object.fromEntries(pairs.filter(([, value]) => Number.isFinite(value)));
}

/** Renders a report for people: a table of cases, the ratios with their bars, what was left out and what went wrong. */
export function formatReport(report: BenchReport): string {
  const rows = report.cases.map((row) => [
    row.name,
    row.contender,
    formatNumber(row.median),
    `${formatNumber(row.min)}–${formatNumber(row.max)}`,
    row.unit,
    Object.entries(row.extra)
      .map(([name, value]) => `${name} ${formatNumber(value)}`)
      .join(", "),
  ]);
  const settings = Object.entries(report.settings).map(([name, value]) => `${name} ${String(value)}`);
  return [
    `${report.suite}, ${report.startedAt}, ${report.host.cpu} × ${String(report.host.cores)}, kernel ${report.host.kernel}`,
    settings.join(", "),
    "",
    ...formatTable([["case", "contender", "median", "min–max", "unit", "beside it"], ...rows]),
    ...section("Ratios", report.ratios.map(formatRatio)),
    ...section("Skipped", report.skipped.map(formatSkipped)),
    ...section("Not to be trusted", report.problems),
  ].join("\n");
}

/** Three significant digits for small numbers, none after the point for large ones. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        isNumeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

function isNumeric(column: number): boolean {
  return column === 2 || column === 3;
}

function formatRatio(ratio: Ratio): string {
  const verdict = ratio.holds ? "holds" : "MISSED";
  const against = ratio.against === undefined ? "" : `, against ${ratio.against}`;
  const spread = `${formatNumber(ratio.min)}–${formatNumber(ratio.max)}, of medians ${formatNumber(ratio.ofMedians)}`;
  return `${ratio.name}: ${formatNumber(ratio.value)} (${spread}${against}; bar ${ratio.direction} ${formatNumber(ratio.bar)}: ${verdict})`;
}

function formatSkipped(skipped: Skipped): string {
  const where = skipped.case === undefined ? skipped.contender : `${skipped.case}, ${skipped.contender}`;
  return `${where}: ${skipped.reason}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];
}
