import { createHash } from "node:crypto";
import { err, jobIds, JOB_REPORT_BYTES_MAX, ok } from "@weft/protocol";
import type { JobId, JobOutcome, JobWork, PeerId, RandomBytes, Result, ServerFrame } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { WorkYield } from "../registry/live-state.ts";

/** One piece of work for a node. */
export type NodeJob = {
  readonly peerId: PeerId;
  readonly name: string;
  readonly work: JobWork;
  readonly timeLimitMs: number;
  readonly send: (frame: ServerFrame) => void;
  /** Called with what the node found so far. */
  readonly onEvent: (found: unknown) => void;
  /** Ends the job early; its reason is the failure that it ends with. */
  readonly signal: AbortSignal;
};

/** Jobs that wait for their node's answer. */
export type NodeJobs = {
  readonly start: (job: NodeJob) => Promise<Result<WorkYield, Failure>>;
  readonly part: (peerId: PeerId, part: { readonly jobId: JobId; readonly content: Uint8Array }) => void;
  readonly event: (peerId: PeerId, id: JobId, content: string) => void;
  readonly finish: (peerId: PeerId, id: JobId, outcome: JobOutcome) => void;
  /** The node's stream ended: nothing comes any more, but from one that was asked to start again. */
  readonly lost: (peerId: PeerId) => void;
  readonly dispose: () => void;
};

type Waiting = {
  readonly peerId: PeerId;
  readonly name: string;
  /** A node that starts again answers on its next stream. */
  readonly outlives: "stream" | "nothing";
  readonly parts: Uint8Array[];
  bytes: number;
  events: number;
  readonly onEvent: (found: unknown) => void;
  readonly settle: (result: Result<WorkYield, Failure>) => void;
};

/**
 * Hands jobs to nodes. Each has a time limit and a bound on what comes back; an answer that nobody waits for, or that comes
 * from another node, is dropped.
 */
export function createNodeJobs(random: RandomBytes): NodeJobs {
  const waiting = new Map<JobId, Waiting>();
  const of = (peerId: PeerId, id: JobId) => {
    const job = waiting.get(id);
    return job?.peerId === peerId ? job : undefined;
  };
  return {
    start({ peerId, name, work, timeLimitMs, send, onEvent, signal }) {
      if (signal.aborted) return Promise.resolve(err(stopReason(signal, name)));
      const id = jobIds.make(random);
      return new Promise((done) => {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const settle = (result: Result<WorkYield, Failure>) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", cancel);
          waiting.delete(id);
          // However a cancelled job ended on the node: it was cancelled.
          done(signal.aborted ? err(stopReason(signal, name)) : result);
        };
        const late = () => settle(err({ code: "job_timed_out", name, seconds: Math.round(timeLimitMs / 1_000) }));
        // The node is free for the next job when it says so, or is taken to be after a while.
        const cancel = (): void => {
          send({ kind: "jobCancel", jobId: id });
          if (signal.reason === "stopping") return late();
          clearTimeout(timer);
          timer = setTimeout(late, CANCEL_MS);
        };
        timer = setTimeout(late, timeLimitMs + MARGIN_MS);
        signal.addEventListener("abort", cancel, { once: true });
        const outlives = work.kind === "restart" && work.what === "agent" ? "stream" : "nothing";
        waiting.set(id, { peerId, name, outlives, parts: [], bytes: 0, events: 0, onEvent, settle });
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
    event(peerId, id, content) {
      const job = of(peerId, id);
      if (!job || job.events >= EVENTS_MAX) return;
      job.events += 1;
      job.onEvent(parseJson(content));
    },
    finish(peerId, id, outcome) {
      const job = of(peerId, id);
      job?.settle(yieldOf(job, outcome));
    },
    lost(peerId) {
      const left = [...waiting.values()].filter((job) => job.peerId === peerId && job.outlives === "nothing");
      for (const job of left) job.settle(err({ code: "peer_offline", name: job.name }));
    },
    dispose() {
      const left = [...waiting.values()];
      for (const job of left) job.settle(err({ code: "stopping" }));
    },
  };
}

function stopReason(signal: AbortSignal, name: string): Failure {
  return signal.reason === "stopping" ? { code: "stopping" } : { code: "job_cancelled", name };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function yieldOf(job: Waiting, outcome: JobOutcome): Result<WorkYield, Failure> {
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
/** How long a node may take to end what was cancelled. */
const CANCEL_MS = 3_000;
/** Events of one job that are looked at. */
const EVENTS_MAX = 500;
