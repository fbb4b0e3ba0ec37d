import type { Result } from "@weft/protocol";
import type { StoredJob } from "../db/jobs-repository.ts";
import type { Failure } from "../domain/failure.ts";
import type { JobKind } from "../domain/job.ts";
import type { Peer } from "../domain/peer.ts";
import type { Call } from "./call.ts";

/** What a job found, and what its audit event says of that. */
export type JobFinding = { readonly result: object; readonly note: object };

/** What is asked of nodes. */
export type JobPlan = {
  readonly kind: JobKind;
  /** Name of its audit events: this at the start, the same with "Ended" at the end. */
  readonly action: string;
  readonly peer: Peer;
  readonly target: Peer | null;
  /** What callers see of the question; no secrets. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeLimitMs: number;
  readonly run: (control: JobControl) => Promise<Result<JobFinding, Failure>>;
};

export type JobControl = {
  readonly jobId: string;
  /** Aborted when somebody cancels the job, or the server stops. */
  readonly signal: AbortSignal;
  /** Shows what was found so far, in the form of the result. */
  readonly tell: (found: object) => void;
};

/** Jobs of nodes: kept, bounded, noted in the audit log. */
export type JobDesk = {
  /** Begins a job; `ended` resolves when its end is written, and never rejects. */
  readonly start: (
    call: Call,
    plan: JobPlan,
  ) => Promise<Result<{ readonly job: StoredJob; readonly ended: Promise<Result<JobFinding, Failure>> }, Failure>>;
  /** Ends a job of this server, and waits for that; one of another replica ends within some seconds. */
  readonly cancel: (jobId: string) => Promise<void>;
};
