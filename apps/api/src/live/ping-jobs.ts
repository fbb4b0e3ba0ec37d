import { err, jobIds, ok } from "@weft/protocol";
import type { IpAddress, JobId, JobOutcome, RandomBytes, Result, ServerFrame } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import type { PingOutcome } from "../registry/live-state.ts";

/** Jobs that wait for their node's answer. */
export type PingJobs = {
  readonly start: (job: {
    readonly name: string;
    readonly target: IpAddress;
    readonly count: number;
    readonly send: (frame: ServerFrame) => void;
  }) => Promise<Result<PingOutcome, Failure>>;
  readonly finish: (id: JobId, outcome: JobOutcome) => void;
  readonly dispose: () => void;
};

/** Hands pings to nodes; each has a time limit, and an answer nobody waits for any more is dropped. */
export function createPingJobs(random: RandomBytes): PingJobs {
  const waiting = new Map<
    JobId,
    { readonly settle: (result: Result<PingOutcome, Failure>) => void; readonly name: string }
  >();
  return {
    start({ name, target, count, send }) {
      const id = jobIds.make(random);
      const timeLimitMs = count * PING_MS + MARGIN_MS;
      return new Promise((settle) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          settle(err({ code: "job_timed_out", name, seconds: Math.round(timeLimitMs / 1_000) }));
        }, timeLimitMs + MARGIN_MS);
        waiting.set(id, {
          name,
          settle: (result) => {
            clearTimeout(timer);
            waiting.delete(id);
            settle(result);
          },
        });
        send({ kind: "job", jobId: id, timeLimitMs, work: { kind: "ping", target, count } });
      });
    },
    finish(id, outcome) {
      const job = waiting.get(id);
      if (!job) return;
      if (outcome.kind === "failed") {
        job.settle(err({ code: "job_failed", name: job.name, detail: outcome.message }));
      } else {
        const { sent, received, rttMicroseconds, endpoint } = outcome;
        job.settle(ok({ sent, received, rttMicroseconds, endpoint }));
      }
    },
    dispose() {
      for (const job of waiting.values()) job.settle(err({ code: "stopping" }));
    },
  };
}

const PING_MS = 1_200;
const MARGIN_MS = 2_000;
