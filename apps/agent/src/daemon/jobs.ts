import type { PeerState } from "@weft/dataplane";
import {
  familyOf,
  JOB_EVENT_BYTES_MAX,
  type AgentFrame,
  type IpAddress,
  type JobId,
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

/** Runs what the server asks for; each job has a time limit and can be cancelled. */
export type Jobs = {
  readonly run: (job: JobFrame) => void;
  readonly cancel: (id: JobId) => void;
  /** Nobody hears of results any more. */
  readonly streamEnded: () => void;
};

/** What a job has beside its work. */
export type JobControl = {
  readonly jobId: JobId;
  /** Aborted when nobody waits any more, or the time is up. */
  readonly signal: AbortSignal;
  /** Shows what was found so far, in the form of the report. */
  readonly tell: (found: object) => void;
};

type Of<Kind extends JobWork["kind"]> = Extract<JobWork, { kind: Kind }>;

/** What looks into this agent itself: resolves with the report, or the reason why there is none. */
export type Diagnostics = {
  readonly profile: (wish: Of<"profile">, control: JobControl) => Promise<object | string>;
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
  const running = new Map<JobId, { readonly work: JobWork; readonly abort: AbortController }>();
  const start = (job: JobFrame): void => {
    const abort = new AbortController();
    const cancelTimer = deps.timers.after(job.timeLimitMs, () => abort.abort());
    running.set(job.jobId, { work: job.work, abort });
    const finish = (outcome: JobOutcome): void => {
      cancelTimer();
      running.delete(job.jobId);
      deps.send({ kind: "jobResult", jobId: job.jobId, outcome });
    };
    const control = { jobId: job.jobId, signal: abort.signal, tell: createTeller(deps, job.jobId) };
    runWork(deps, job.work, control).then(finish, (error: unknown) =>
      finish(failed(error instanceof Error ? error.message : "unknown")),
    );
  };
  return {
    run(job) {
      const refusal = refusalOf(deps, job.work, [...running.values()]);
      if (refusal === null) start(job);
      else deps.send({ kind: "jobResult", jobId: job.jobId, outcome: failed(refusal) });
    },
    cancel: (id) => running.get(id)?.abort.abort(),
    streamEnded() {
      for (const { abort } of running.values()) abort.abort();
    },
  };
}

/** Why a job does not begin. */
function refusalOf(
  { forbidden }: Pick<JobsDeps, "forbidden">,
  { kind }: JobWork,
  running: readonly { readonly work: JobWork }[],
): string | null {
  if (running.length >= JOBS_MAX) return `${JOBS_MAX} jobs run already`;
  if (forbidden.has(kind)) return `this host does not allow the job ${kind}`;
  const heavy = running.find(({ work }) => isHeavy(work.kind));
  return heavy && isHeavy(kind) ? `the job ${heavy.work.kind} runs already` : null;
}

/** Work that keeps the node busy or stops it. */
function isHeavy(kind: JobWork["kind"]): boolean {
  return kind !== "ping" && kind !== "trace" && kind !== "mtuProbe";
}

/** Sends what was found so far; what is too long for an event is left to the report. */
function createTeller({ send }: Pick<JobsDeps, "send">, jobId: JobId): JobControl["tell"] {
  return (found) => {
    const content = JSON.stringify(found);
    if (content.length <= JOB_EVENT_BYTES_MAX) send({ kind: "jobEvent", jobId, content });
  };
}

async function runWork(deps: JobsDeps, work: JobWork, control: JobControl): Promise<JobOutcome> {
  const { diagnostics } = deps;
  const report = (found: object | string): JobOutcome =>
    typeof found === "string" ? failed(found) : sendReport(deps, control.jobId, found);
  switch (work.kind) {
    case "ping":
      return runPing(deps, work, control);
    case "profile":
      return report(await diagnostics.profile(work, control));
    case "debugBundle":
      return report(diagnostics.debugBundle(work.addresses));
    case "trace":
    case "mtuProbe":
    case "throughput":
    case "restart":
      return failed(`this agent does not do ${work.kind}`);
  }
}

async function runPing(deps: JobsDeps, { target, count }: Of<"ping">, control: JobControl): Promise<JobOutcome> {
  const peer = deps.map()?.peers.find((candidate) => addressOf(candidate, target) === target);
  // Only members of the network: the server must not use a node as a probe into its surroundings.
  if (!peer) return failed(`${target} is no peer of this node`);
  const endpoint = (): PeerState["endpoint"] => deps.peerState(peer)?.endpoint ?? null;
  const rttMicroseconds: number[] = [];
  const summary = await pingPeer(deps, {
    target,
    count,
    intervalMs: 200,
    timeoutMs: 1_000,
    onReply({ sequence, rttMicroseconds: rtt }) {
      if (rtt !== null) rttMicroseconds.push(rtt);
      const soFar = { sent: sequence, received: rttMicroseconds.length, rttMicroseconds, endpoint: endpoint() };
      if (sequence < count) control.tell({ kind: "ping", ...soFar });
    },
    stopped: () => control.signal.aborted,
  });
  return { kind: "ping", ...summary, endpoint: endpoint() };
}

function failed(message: string): JobOutcome {
  return { kind: "failed", message };
}

function addressOf(peer: MapPeer, like: IpAddress): IpAddress | null {
  return familyOf(like) === 4 ? peer.ipv4 : peer.ipv6;
}

const JOBS_MAX = 4;
