import type { JobWork } from "@weft/protocol";
import type { Failure } from "./failure.ts";

/** Where a job stands. The last four are ends: nothing about the job changes any more. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled", "expired"] as const;
export type JobKind = JobWork["kind"];

/** Work that keeps a node busy or stops it: one at a time on each node. */
export function isHeavy(kind: JobKind): boolean {
  switch (kind) {
    case "profile":
    case "debugBundle":
    case "throughput":
    case "restart":
      return true;
    case "ping":
    case "trace":
    case "mtuProbe":
      return false;
  }
}

/** Work whose result tells about the inside of a host: only who may ask for it may read it. */
export function isConfidential(kind: JobKind): boolean {
  return kind === "profile" || kind === "debugBundle";
}

/** The end that a failure is. */
export function endOf(failure: Failure): "failed" | "cancelled" | "expired" {
  if (failure.code === "job_cancelled") return "cancelled";
  return failure.code === "job_timed_out" ? "expired" : "failed";
}

/** Light jobs that a node does at the same time; more wait. */
export const LIGHT_AT_ONCE = 3;
/** Light jobs that wait for one node. */
export const WAITING_MAX = 20;
/** How long a job may wait. */
export const WAITING_MS = 60_000;
/** A job whose server has not moved its lease on for so long was left behind. */
export const LEASE_MS = 15_000;
/** Longer results are not kept. */
export const RESULT_BYTES_MAX = 4 * 1024 * 1024;
