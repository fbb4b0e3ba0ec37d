import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { jobsContract } from "./contract.ts";
import { runReport } from "./run-report.ts";

/** Fetches a debug bundle of a node's agent. */
export async function debugPeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, addresses }: InputOf<typeof jobsContract.debugBundle>,
): Outcome<typeof jobsContract.debugBundle> {
  return runReport(deps, call, {
    peerId,
    action: "jobs.debugBundle",
    work: { kind: "debugBundle", addresses },
    timeLimitMs: BUNDLE_MS,
    schema: jobsContract.debugBundle.output,
  });
}

const BUNDLE_MS = 20_000;
