import type { BenchOptions } from "../options.ts";
import type { Bar } from "../ratios.ts";
import type { BenchReport } from "../report.ts";

/** Whether a case of a contender is to be measured in this run. */
export type Wants = (caseName: string, contender: string) => boolean;

/** What a suite needs to know to run. */
export type SuiteContext = {
  readonly options: BenchOptions;
  readonly wants: Wants;
  readonly progress: (line: string) => void;
};

/** What a suite brings back. */
export type SuiteBody = Pick<BenchReport, "settings" | "cases" | "skipped" | "problems">;

/** A suite: its cases by name, its bars, and how it runs. */
export type SuiteRun = {
  readonly caseNames: readonly string[];
  readonly bars: readonly Bar[];
  readonly run: (context: SuiteContext) => Promise<SuiteBody>;
};
