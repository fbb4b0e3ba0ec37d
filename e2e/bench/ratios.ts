import { round } from "./statistics.ts";

/** What a ratio is computed from: the median of a row, or the median of one of its extra values. */
export type Term = { readonly case: string; readonly contender: string; readonly extra?: string };

export type Bar = {
  readonly name: string;
  readonly value: Term;
  /** Absent: the value itself is compared with the bar. */
  readonly dividedBy?: Term;
  /** Subtracted instead of divided: for amounts above a baseline. */
  readonly minus?: Term;
  readonly direction: "at least" | "at most";
  readonly bar: number;
};

export type Ratio = {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  readonly direction: "at least" | "at most";
  readonly holds: boolean;
};

type Row = {
  readonly name: string;
  readonly contender: string;
  readonly median: number;
  readonly extra: Readonly<Record<string, number>>;
};

/** Computes every ratio whose terms were measured in this run; the others are left out. */
export function computeRatios(bars: readonly Bar[], rows: readonly Row[]): Ratio[] {
  return bars.flatMap((bar) => {
    const value = evaluate(bar, rows);
    if (value === undefined || !Number.isFinite(value)) return [];
    const holds = bar.direction === "at least" ? value >= bar.bar : value <= bar.bar;
    return [{ name: bar.name, value: round(value), bar: bar.bar, direction: bar.direction, holds }];
  });
}

function evaluate(bar: Bar, rows: readonly Row[]): number | undefined {
  const value = look(bar.value, rows);
  if (value === undefined) return undefined;
  if (bar.dividedBy) {
    const divisor = look(bar.dividedBy, rows);
    return divisor === undefined ? undefined : value / divisor;
  }
  if (bar.minus) {
    const base = look(bar.minus, rows);
    return base === undefined ? undefined : value - base;
  }
  return value;
}

function look(term: Term, rows: readonly Row[]): number | undefined {
  const row = rows.find((candidate) => candidate.name === term.case && candidate.contender === term.contender);
  return term.extra === undefined ? row?.median : row?.extra[term.extra];
}
