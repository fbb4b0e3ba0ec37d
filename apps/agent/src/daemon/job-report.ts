import { createHash } from "node:crypto";

import { JOB_PART_BYTES_MAX, JOB_REPORT_BYTES_MAX, type AgentFrame, type JobId, type JobOutcome } from "@weft/protocol";

/** Sends a report in parts and returns the outcome that ends the job. A stream keeps the order. */
export function sendReport(
  { send }: { readonly send: (frame: AgentFrame) => void },
  jobId: JobId,
  report: object,
): JobOutcome {
  const bytes = Buffer.from(JSON.stringify(report));
  if (bytes.length > JOB_REPORT_BYTES_MAX) {
    return {
      kind: "failed",
      message: `the report has ${bytes.length} bytes; at most ${JOB_REPORT_BYTES_MAX} can be sent`,
    };
  }
  let parts = 0;
  for (let from = 0; from < bytes.length; from += JOB_PART_BYTES_MAX) {
    send({ kind: "jobPart", jobId, index: parts, content: bytes.subarray(from, from + JOB_PART_BYTES_MAX) });
    parts += 1;
  }
  return { kind: "report", parts, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest() };
}
