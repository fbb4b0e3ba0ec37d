import type { PeerState } from "@weft/dataplane";
import {
  familyOf,
  type AgentFrame,
  type IpAddress,
  type JobOutcome,
  type JobWork,
  type MapPeer,
  type NetworkMap,
  type ServerFrame,
} from "@weft/protocol";

import type { ForbiddenJobs } from "../settings/forbidden-jobs.ts";
import type { Timers } from "../stream/timers.ts";
import { sendReport } from "./job-report.ts";
import { pingPeer, type PingOnce } from "./ping-peer.ts";

type JobFrame = Extract<ServerFrame, { kind: "job" }>;

/** Runs what the server asks for; each job has a time limit. */
export type Jobs = { readonly run: (job: JobFrame) => void };

/** What looks into this agent itself. */
export type Diagnostics = {
  /** Records a profile; resolves with the report, or the reason why there is none. */
  readonly profile: (wish: Extract<JobWork, { kind: "profile" }>, gone: () => boolean) => Promise<object | string>;
  readonly debugBundle: (addresses: "keep" | "redact") => object;
};

export type JobsDeps = {
  readonly timers: Timers;
  readonly pingOnce: PingOnce;
  readonly send: (frame: AgentFrame) => void;
  readonly map: () => NetworkMap | null;
  readonly peerState: (peer: MapPeer) => PeerState | null;
  readonly diagnostics: Diagnostics;
  readonly forbidden: ForbiddenJobs;
};

export function createJobs(deps: JobsDeps): Jobs {
  let running = 0;
  const finish = (job: JobFrame, outcome: JobOutcome): void => {
    running -= 1;
    deps.send({ kind: "jobResult", jobId: job.jobId, outcome });
  };
  return {
    run(job) {
      running += 1;
      if (running > JOBS_MAX) return finish(job, { kind: "failed", message: `${JOBS_MAX} jobs run already` });
      if (deps.forbidden.has(job.work.kind)) {
        return finish(job, { kind: "failed", message: `this host does not allow the job ${job.work.kind}` });
      }
      runWork(deps, job).then(
        (outcome) => finish(job, outcome),
        (error: unknown) =>
          finish(job, { kind: "failed", message: error instanceof Error ? error.message : "unknown" }),
      );
    },
  };
}

async function runWork(deps: JobsDeps, job: JobFrame): Promise<JobOutcome> {
  const { work } = job;
  switch (work.kind) {
    case "ping":
      return runPing(deps, job, work);
    case "profile": {
      const endsAtMs = deps.timers.nowMs() + job.timeLimitMs;
      const report = await deps.diagnostics.profile(work, () => deps.timers.nowMs() >= endsAtMs);
      return typeof report === "string" ? { kind: "failed", message: report } : sendReport(deps, job.jobId, report);
    }
    case "debugBundle":
      return sendReport(deps, job.jobId, deps.diagnostics.debugBundle(work.addresses));
  }
}

async function runPing(
  deps: JobsDeps,
  job: JobFrame,
  { target, count }: Extract<JobWork, { kind: "ping" }>,
): Promise<JobOutcome> {
  const peer = deps.map()?.peers.find((candidate) => addressOf(candidate, target) === target);
  // Only members of the network: the server must not use a node as a probe into its surroundings.
  if (!peer) return { kind: "failed", message: `${target} is no peer of this node` };
  const endsAtMs = deps.timers.nowMs() + job.timeLimitMs;
  const summary = await pingPeer(deps, {
    target,
    count,
    intervalMs: 200,
    timeoutMs: Math.min(1_000, job.timeLimitMs),
    onReply: () => {},
    stopped: () => deps.timers.nowMs() >= endsAtMs,
  });
  return { kind: "ping", ...summary, endpoint: deps.peerState(peer)?.endpoint ?? null };
}

function addressOf(peer: MapPeer, like: IpAddress): IpAddress | null {
  return familyOf(like) === 4 ? peer.ipv4 : peer.ipv6;
}

const JOBS_MAX = 4;
