import { reasonOfError } from "./failure-reasons.mjs";

/**
 * A reporter for `node --test`: one JSON line per finished test. Groups are no tests: they fail because one of theirs does,
 * unless they fail by themselves (a hook).
 */
export default async function* summary(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file, line, details } = data;
    const error = details?.error;
    if (type === "test:fail" && error?.failureType === "subtestsFailed") continue;
    if (type === "test:pass" && details?.type === "suite" && data.skip === undefined) continue;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    yield `${JSON.stringify({
      state: skipped ? "skipped" : type === "test:pass" ? "passed" : "failed",
      name,
      file: line > 1 ? `${file}:${line}` : file,
      ...(typeof data.skip === "string" ? { reason: data.skip } : {}),
      ...(type === "test:fail" ? { why: reasonOfError(error) } : {}),
    })}\n`;
  }
}
