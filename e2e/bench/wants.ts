import { isWanted, type BenchOptions } from "./options.ts";
import { asksFor, type Bar } from "./ratios.ts";
import type { Wants } from "./suites/suite-run.ts";

/** The bare link: measured with every case, whoever else was asked for. */
export const RAW_LINK = "raw veth";

/** What was asked for on the command line. */
export function wantsNamed({ cases, contenders }: Pick<BenchOptions, "cases" | "contenders">): Wants {
  return (caseName, contender) =>
    isWanted(caseName, cases) && (contender === RAW_LINK || isWanted(contender, contenders));
}

/** Only what some bar looks at, and the bare link where it says whether such a figure means anything. */
export function wantsForBars(
  bars: readonly Bar[],
  cases: readonly { readonly name: string; readonly rawLink: "must be faster" | "is not a limit" }[],
): Wants {
  const bounded = new Set(cases.filter(({ rawLink }) => rawLink === "must be faster").map(({ name }) => name));
  const needed = (caseName: string): boolean =>
    bars.some(({ value, dividedBy, minus }) =>
      [value, dividedBy, minus].some((term) => term !== undefined && term.case === caseName),
    );
  return (caseName, contender) =>
    contender === RAW_LINK
      ? bounded.has(caseName) && needed(caseName)
      : bars.some((bar) => asksFor(bar, { case: caseName, contender }));
}
