import { appendFileSync } from "node:fs";
import { reasonOfVitestError } from "./failure-reasons.mjs";

/** Writes one JSON line per finished test to the file named by WEFT_TEST_SUMMARY, skips with their reason. */
export default class SummaryReporter {
  onTestCaseResult(test) {
    const { state, errors, note } = test.result();
    const { duration } = test.diagnostic() ?? {};
    this.#write({
      state: state === "passed" || state === "failed" ? state : "skipped",
      name: `${test.project.name ? `${test.project.name}: ` : ""}${test.fullName}`,
      file: test.module.relativeModuleId,
      ...(note ? { reason: note } : {}),
      ...(errors?.length ? { why: reasonOfVitestError(errors[0]) } : {}),
      durationMs: Math.round(duration ?? 0),
    });
  }

  /** A file that does not even load counts as one failure. */
  onTestModuleEnd(module) {
    for (const error of module.errors()) {
      this.#write({
        state: "failed",
        name: `${module.relativeModuleId} loads`,
        file: module.relativeModuleId,
        why: reasonOfVitestError(error),
      });
    }
  }

  #write(line) {
    const file = process.env.WEFT_TEST_SUMMARY;
    if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
}
