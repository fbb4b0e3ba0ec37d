import { appendFileSync } from "node:fs";

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
      ...(errors?.length ? { error: errors[0].message } : {}),
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
        error: error.message,
      });
    }
  }

  #write(line) {
    const file = process.env.WEFT_TEST_SUMMARY;
    if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
}
