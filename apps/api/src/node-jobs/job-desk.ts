import { err, jobIds, ok } from "@weft/protocol";
import type { RandomBytes, Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { changeJob, dropLargeResults, insertJob, lapsedJobs, renewLeases } from "../db/jobs-repository.ts";
import type { StoredJob } from "../db/jobs-repository.ts";
import { storedNetworkId } from "../db/rows.ts";
import { transact } from "../db/transact.ts";
import type { Failure } from "../domain/failure.ts";
import { endOf, isHeavy, LEASE_MS, RESULT_BYTES_MAX, WAITING_MS } from "../domain/job.ts";
import { BY_SERVER, recordAudit } from "../registry/audit.ts";
import type { Call } from "../registry/call.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { JobDesk, JobFinding, JobPlan } from "../registry/job-desk.ts";
import type { LiveState } from "../registry/live-state.ts";
import { createSlots } from "./slots.ts";
import type { Slot } from "./slots.ts";

export type JobDeskDeps = {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly live: Pick<LiveState, "refusal">;
  /** What a person reads of a failure. */
  readonly describe: (failure: Failure) => string;
  readonly onError: (event: string, error: unknown) => void;
};

/** The desk, and what the clockwork does for it. */
export type RunningJobDesk = JobDesk & {
  /** Writes what running jobs found, keeps them this server's own, and ends those that a lost server left behind. */
  readonly turn: () => Promise<void>;
  /** Ends what runs, and says so. */
  readonly dispose: () => Promise<void>;
};

type Running = {
  readonly abort: AbortController;
  readonly ended: Promise<Result<JobFinding, Failure>>;
  /** What was found since it was last written. */
  found: object | null;
};

export function createJobDesk(deps: JobDeskDeps): RunningJobDesk {
  const slots = createSlots();
  const running = new Map<string, Running>();
  let state: "open" | "stopping" = "open";
  let turns = 0;

  const start: JobDesk["start"] = async (call, plan) => {
    if (state === "stopping") return err({ code: "stopping" });
    const refused = refusalOf(deps, plan);
    if (refused) return err(refused);
    const nodes = [plan.peer, ...(isHeavy(plan.kind) && plan.target ? [plan.target] : [])];
    const weight = isHeavy(plan.kind) ? "heavy" : "light";
    const slot = slots.take({ nodes: nodes.map(({ id }) => id), weight });
    if (!slot.ok) {
      const name = nodes.find(({ id }) => id === slot.error)?.name ?? slot.error;
      return err({ code: "job_busy", name });
    }
    try {
      const job = await open(deps, call, { plan, slot: slot.value });
      const abort = new AbortController();
      const own: Running = {
        abort,
        found: null,
        ended: carryOut(deps, call, { job, plan, slot: slot.value, abort, tell }),
      };
      running.set(job.id, own);
      void own.ended.finally(() => running.delete(job.id));
      return ok({ job, ended: own.ended });
    } catch (error) {
      slot.value.release();
      throw error;
    }
  };
  const tell = (id: string, found: object) => {
    const own = running.get(id);
    if (own) own.found = found;
  };
  const turn = async () => {
    turns += 1;
    await writeFindings(deps, running);
    for (const { id, isUnwanted } of await leases(deps, [...running.keys()])) {
      if (isUnwanted) running.get(id)?.abort.abort("cancelled");
    }
    if (turns % SWEEP_TURNS === 1) await sweep(deps);
  };
  return {
    start,
    async cancel(id) {
      const own = running.get(id);
      own?.abort.abort("cancelled");
      await own?.ended;
    },
    turn,
    async dispose() {
      state = "stopping";
      const left = [...running.values()];
      for (const { abort } of left) abort.abort("stopping");
      await Promise.all(left.map(({ ended }) => ended));
    },
  };
}

function refusalOf({ live }: JobDeskDeps, { kind, peer, target }: JobPlan): Failure | undefined {
  const both = kind === "throughput" && target ? [peer, target] : [peer];
  return both.map(({ id }) => live.refusal(id, kind)).find((failure) => failure !== undefined);
}

/** Writes the job and that somebody asked for it. */
async function open(
  { db, clock, random }: JobDeskDeps,
  call: Call,
  { plan, slot }: { readonly plan: JobPlan; readonly slot: Slot },
): Promise<StoredJob> {
  const nowMs = clock.nowMs();
  const [now, isFree] = [new Date(nowMs), slot.state() === "free"];
  const { peer, target, kind, input, action, timeLimitMs } = plan;
  return db.transaction(async (tx) => {
    const job = await insertJob(tx, {
      id: jobIds.make(random),
      networkId: peer.networkId,
      peerId: peer.id,
      targetPeerId: target?.id ?? null,
      kind,
      state: isFree ? "running" : "queued",
      input,
      ...askedBy(call),
      action,
      timeLimitMs,
      leaseUntil: new Date(nowMs + LEASE_MS),
      createdAt: now,
      startedAt: isFree ? now : null,
    });
    if (!job) throw new Error("an inserted row is returned");
    const note = { action, objectId: peer.id, networkId: peer.networkId, before: null };
    await recordAudit(tx, call, { ...note, after: { jobId: job.id, kind, ...input }, at: now });
    return job;
  });
}

function askedBy({ actor }: Call): Pick<StoredJob, "askedByKind" | "askedById" | "askedByLogin"> {
  if (actor.kind === "anonymous") return { askedByKind: actor.kind, askedById: null, askedByLogin: null };
  if (actor.kind === "node") return { askedByKind: actor.kind, askedById: actor.peerId, askedByLogin: actor.name };
  return { askedByKind: actor.kind, askedById: actor.userId, askedByLogin: actor.login };
}

type OpenJob = {
  readonly job: StoredJob;
  readonly plan: JobPlan;
  readonly slot: Slot;
  readonly abort: AbortController;
  readonly tell: (id: string, found: object) => void;
};

async function carryOut(deps: JobDeskDeps, call: Call, own: OpenJob): Promise<Result<JobFinding, Failure>> {
  const { job, plan, slot, abort } = own;
  let outcome: Result<JobFinding, Failure>;
  try {
    const waited = await turnOf(deps, own);
    const tell = (found: object) => own.tell(job.id, found);
    outcome = waited ? err(waited) : await plan.run({ jobId: job.id, signal: abort.signal, tell });
  } catch (error) {
    deps.onError("node_job_crashed", error);
    outcome = err({ code: "internal" });
  } finally {
    slot.release();
  }
  try {
    await close(deps, call, { job, outcome });
  } catch (error) {
    // Its lease runs out, and a sweep writes the end.
    deps.onError("node_job_end_not_written", error);
  }
  return outcome;
}

/** Waits until the node is free; resolves with the failure that came first. */
async function turnOf(deps: JobDeskDeps, { job, plan, slot, abort }: OpenJob): Promise<Failure | undefined> {
  if (slot.state() === "free") return undefined;
  const { name } = plan.peer;
  const failure = await new Promise<Failure | undefined>((done) => {
    const late = { code: "job_timed_out", name, seconds: WAITING_MS / 1_000 } as const;
    const timer = setTimeout(() => done(late), WAITING_MS);
    const settle = (reason: Failure | undefined) => {
      clearTimeout(timer);
      done(reason);
    };
    slot.onFree(() => settle(undefined));
    const stopped = () =>
      settle(abort.signal.reason === "stopping" ? { code: "stopping" } : { code: "job_cancelled", name });
    if (abort.signal.aborted) stopped();
    else abort.signal.addEventListener("abort", stopped, { once: true });
  });
  if (failure) return failure;
  await changeJob(deps.db, job.id, { state: "running", startedAt: new Date(deps.clock.nowMs()) });
  return undefined;
}

/** Writes the end of a job, once, and notes it in the audit log. */
async function close(
  { db, clock, describe }: JobDeskDeps,
  who: Call | typeof BY_SERVER,
  { job, outcome }: { readonly job: Pick<StoredJob, "id">; readonly outcome: Result<JobFinding, Failure> },
): Promise<void> {
  const at = new Date(clock.nowMs());
  const end = outcome.ok
    ? { state: "done" as const, ...keptResult(outcome.value.result) }
    : { state: endOf(outcome.error), failureCode: outcome.error.code, failureDetail: describe(outcome.error) };
  await transact(db, async (tx) => {
    const ended = await changeJob(tx, job.id, { ...end, endedAt: at });
    if (!ended) return ok(undefined);
    const told = outcome.ok ? outcome.value.note : { failure: outcome.error.code };
    await recordAudit(tx, who, {
      action: `${ended.action}Ended`,
      objectId: ended.peerId,
      networkId: storedNetworkId(ended.networkId),
      before: null,
      after: { jobId: ended.id, state: ended.state, ...told },
      at,
    });
    if (outcome.ok) await dropLargeResults(tx, ended.networkId, LARGE_KEPT);
    return ok(undefined);
  });
}

function keptResult(result: object): Pick<StoredJob, "result" | "resultBytes"> {
  const text = JSON.stringify(result);
  const resultBytes = Buffer.byteLength(text);
  return { result: resultBytes > RESULT_BYTES_MAX ? null : text, resultBytes };
}

async function writeFindings({ db }: JobDeskDeps, running: ReadonlyMap<string, Running>): Promise<void> {
  for (const [id, own] of running) {
    const { found } = own;
    if (!found) continue;
    own.found = null;
    await changeJob(db, id, keptResult(found));
  }
}

/** Moves the leases on, and finds jobs that were cancelled elsewhere, or went with their peer. */
async function leases(
  { db, clock }: JobDeskDeps,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly isUnwanted: boolean }[]> {
  const rows = await renewLeases(db, ids, new Date(clock.nowMs() + LEASE_MS));
  const kept = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = kept.get(id);
    return { id, isUnwanted: !row || row.cancelAskedAt !== null };
  });
}

async function sweep(deps: JobDeskDeps): Promise<void> {
  const lost = err({ code: "job_left", detail: "the server that ran it stopped" } as const);
  for (const job of await lapsedJobs(deps.db, new Date(deps.clock.nowMs()))) {
    await close(deps, BY_SERVER, { job, outcome: lost });
  }
}

/** Every how many turns jobs of lost servers are looked for. */
const SWEEP_TURNS = 5;
/** Large reports that a network keeps. */
const LARGE_KEPT = 20;
