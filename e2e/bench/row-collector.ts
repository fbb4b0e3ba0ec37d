import type { RoundSample } from "./ratios.ts";
import { toCaseReport, type CaseReport } from "./report.ts";

/** Which row a sample belongs to. */
export type RowKey = { readonly name: string; readonly contender: string; readonly unit: string };

/** Gathers samples into rows, in the order in which rows appear first. */
export type RowCollector = {
  readonly add: (key: RowKey, sample: RoundSample) => void;
  readonly rows: () => CaseReport[];
};

export function createRowCollector(progress: (line: string) => void): RowCollector {
  const found = new Map<string, { readonly key: RowKey; readonly samples: RoundSample[] }>();
  return {
    add(key, { round, value, extra }) {
      const row = found.get(JSON.stringify(key)) ?? { key, samples: [] };
      row.samples.push({ round, value, extra });
      found.set(JSON.stringify(key), row);
      const beside = Object.entries(extra).map(([name, figure]) => `, ${name} ${figure.toPrecision(4)}`);
      const measured = `${value.toPrecision(4)} ${key.unit}${beside.join("")}`;
      progress(`round ${String(round)}, ${key.name}, ${key.contender}: ${measured}`);
    },
    rows: () => [...found.values()].map(({ key, samples }) => toCaseReport({ ...key, samples })),
  };
}
