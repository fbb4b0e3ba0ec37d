import { median, round } from "./statistics.ts";

/** The best of several contenders in a case, by the median of the same figure. */
export type BestOf = { readonly bestOf: readonly string[]; readonly by: "highest" | "lowest" };

/** What a ratio is computed from: the values of a row, or one of the extra values beside them. */
export type Term = { readonly case: string; readonly contender: string | BestOf; readonly extra?: string };

export type Bar = {
  readonly name: string;
  readonly value: Term;
  /** Absent: the value itself is compared with the bar. */
  readonly dividedBy?: Term;
  /** Subtracted instead of divided: for amounts above a baseline. */
  readonly minus?: Term;
  /** The figure that is allowed: the ratio is the share of it that was used. */
  readonly budget?: number;
  readonly direction: "at least" | "at most";
  readonly bar: number;
};

export type Ratio = {
  readonly name: string;
  /** Median of the ratios of the single rounds: both terms of one are measured close together. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** The median of one term against the median of the other. */
  readonly ofMedians: number;
  /** The contender that was the best one, where the bar asks for the best. */
  readonly against?: string;
  readonly bar: number;
  readonly direction: "at least" | "at most";
  readonly holds: boolean;
};

/** One round's value of one row with what was measured beside it. */
export type RoundSample = {
  readonly round: number;
  readonly value: number;
  readonly extra: Readonly<Record<string, number>>;
};

type Row = { readonly name: string; readonly contender: string; readonly samples: readonly RoundSample[] };
type ByRound = ReadonlyMap<number, number>;
type Found = { readonly contender: string; readonly values: ByRound };

/** Computes every ratio whose terms were measured in this run; the others are left out. */
export function computeRatios(bars: readonly Bar[], rows: readonly Row[]): Ratio[] {
  return bars.flatMap((bar) => {
    const ratio = evaluate(bar, rows);
    return ratio === undefined ? [] : [ratio];
  });
}

/** Whether a bar looks at this row, be it only as one of several that could be the best. */
export function asksFor(bar: Bar, row: { readonly case: string; readonly contender: string }): boolean {
  return [bar.value, bar.dividedBy, bar.minus].some(
    (term) => term !== undefined && term.case === row.case && candidates(term).includes(row.contender),
  );
}

function evaluate(bar: Bar, rows: readonly Row[]): Ratio | undefined {
  const value = look(bar.value, rows);
  const otherTerm = bar.dividedBy ?? bar.minus;
  const other = otherTerm && look(otherTerm, rows);
  if (value === undefined || (otherTerm !== undefined && other === undefined)) return undefined;
  const combine = (left: number, right: number | undefined): number => {
    if (right === undefined) return left / (bar.budget ?? 1);
    return bar.dividedBy === undefined ? left - right : left / right;
  };
  const paired = [...value.values].flatMap(([turn, left]) => {
    const right = other?.values.get(turn);
    return other !== undefined && right === undefined ? [] : [combine(left, right)];
  });
  const result = median(paired);
  if (!Number.isFinite(result)) return undefined;
  const isBest = otherTerm !== undefined && typeof otherTerm.contender !== "string";
  return {
    name: bar.name,
    value: round(result),
    min: round(Math.min(...paired)),
    max: round(Math.max(...paired)),
    ofMedians: round(combine(middle(value), other && middle(other))),
    ...(isBest && other ? { against: other.contender } : {}),
    bar: bar.bar,
    direction: bar.direction,
    holds: bar.direction === "at least" ? result >= bar.bar : result <= bar.bar,
  };
}

function look(term: Term, rows: readonly Row[]): Found | undefined {
  const found = candidates(term).flatMap((contender) => {
    const row = rows.find((candidate) => candidate.name === term.case && candidate.contender === contender);
    const values = row === undefined ? new Map<number, number>() : valuesOf(row, term.extra);
    return values.size === 0 ? [] : [{ contender, values }];
  });
  if (typeof term.contender === "string") return found[0];
  const sign = term.contender.by === "highest" ? -1 : 1;
  return found.toSorted((left, right) => sign * (middle(left) - middle(right)))[0];
}

function valuesOf(row: Row, extra: string | undefined): ByRound {
  const pairs = row.samples.map((sample) => [sample.round, extra === undefined ? sample.value : sample.extra[extra]]);
  return new Map(pairs.filter((pair): pair is [number, number] => Number.isFinite(pair[1])));
}

function middle({ values }: Found): number {
  return median([...values.values()]);
}

function candidates(term: Term): readonly string[] {
  return typeof term.contender === "string" ? [term.contender] : term.contender.bestOf;
}
