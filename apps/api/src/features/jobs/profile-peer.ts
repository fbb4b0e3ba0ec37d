import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { jobsContract } from "./contract.ts";
import { runReport } from "./run-report.ts";

/** Records a CPU profile of a node's agent. */
export async function profilePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, seconds, frequencyHz, format }: InputOf<typeof jobsContract.profile>,
): Outcome<typeof jobsContract.profile> {
  return runReport(deps, call, {
    peerId,
    action: "jobs.profile",
    work: { kind: "profile", seconds, frequencyHz, format },
    timeLimitMs: (seconds + READING_SECONDS) * 1_000,
    schema: jobsContract.profile.output,
  });
}

/** Stacks become names on the node after the recording. */
const READING_SECONDS = 30;
