import { createHash } from "node:crypto";
import { err, jobIds, JOB_REPORT_BYTES_MAX, ok } from "@weft/protocol";
import type { JobId, JobOutcome, JobWork, PeerId, RandomBytes, Result, ServerFrame } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";

/** What a finished job gave; the text of a report is JSON. */
export type JobYield = Extract<JobOutcome, { kind: "ping" }> | { readonly kind: "report"; readonly text: string };

/** Jobs that wait for their node's answer. */
export type NodeJobs = {
  readonly start: (job: {
    readonly peerId: PeerId;
    readonly name: string;
    readonly work: JobWork;
    readonly timeLimitMs: number;
    readonly send: (frame: ServerFrame) => void;
  }) => Promise<Result<JobYield, Failure>>;
  readonly part: (peerId: PeerId, part: { readonly jobId: JobId; readonly content: Uint8Array }) => void;
  readonly finish: (peerId: PeerId, id: JobId, outcome: JobOutcome) => void;
  /** The node's stream ended: nothing comes any more. */
  readonly lost: (peerId: PeerId) => void;
  readonly dispose: () => void;
};

type Waiting = {
  readonly peerId: PeerId;
  readonly name: string;
  readonly isHeavy: boolean;
  readonly parts: Uint8Array[];
  bytes: number;
  readonly settle: (result: Result<JobYield, Failure>) => void;
};

/**
 * Hands jobs to nodes. Each has a time limit and a bound on what comes back; one heavy job per node at a time; an answer
 * that nobody waits for, or that comes from another node, is dropped.
 */
export function createNodeJobs(random: RandomBytes): NodeJobs {
  const waiting = new Map<JobId, Waiting>();
  const of = (peerId: PeerId, id: JobId) => {
    const job = waiting.get(id);
    return job?.peerId === peerId ? job : undefined;
  };
  return {
    start({ peerId, name, work, timeLimitMs, send }) {
      const isHeavy = work.kind !== "ping";
      const isBusy = [...waiting.values()].some((job) => job.isHeavy && job.peerId === peerId);
      if (isHeavy && isBusy) return Promise.resolve(err({ code: "job_busy", name }));
      const id = jobIds.make(random);
      return new Promise((done) => {
        const settle = (result: Result<JobYield, Failure>) => {
          clearTimeout(timer);
          waiting.delete(id);
          done(result);
        };
        const late = () => settle(err({ code: "job_timed_out", name, seconds: Math.round(timeLimitMs / 1_000) }));
        const timer = setTimeout(late, timeLimitMs + MARGIN_MS);
        waiting.set(id, { peerId, name, isHeavy, parts: [], bytes: 0, settle });
        send({ kind: "job", jobId: id, timeLimitMs, work });
      });
    },
    part(peerId, { jobId, content }) {
      const job = of(peerId, jobId);
      if (!job) return;
      job.bytes += content.length;
      if (job.bytes > JOB_REPORT_BYTES_MAX) {
        job.settle(err({ code: "job_failed", name: job.name, detail: "it sent more than it may" }));
      } else job.parts.push(content);
    },
    finish(peerId, id, outcome) {
      const job = of(peerId, id);
      job?.settle(yieldOf(job, outcome));
    },
    lost(peerId) {
      const left = [...waiting.values()].filter((job) => job.peerId === peerId);
      for (const job of left) job.settle(err({ code: "peer_offline", name: job.name }));
    },
    dispose() {
      const left = [...waiting.values()];
      for (const job of left) job.settle(err({ code: "stopping" }));
    },
  };
}

function yieldOf(job: Waiting, outcome: JobOutcome): Result<JobYield, Failure> {
  switch (outcome.kind) {
    case "failed":
      return err({ code: "job_failed", name: job.name, detail: outcome.message });
    case "ping":
      return ok(outcome);
    case "report": {
      const bytes = Buffer.concat(job.parts);
      const hash = createHash("sha256").update(bytes).digest();
      const isWhole =
        bytes.length === outcome.bytes && job.parts.length === outcome.parts && hash.equals(outcome.sha256);
      if (isWhole) return ok({ kind: "report", text: bytes.toString("utf8") });
      return err({ code: "job_failed", name: job.name, detail: "its report came incomplete" });
    }
  }
}

const MARGIN_MS = 2_000;
