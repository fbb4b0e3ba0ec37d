import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Peer } from "../../domain/peer.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { JobView } from "../../registry/job-schemas.ts";
import { jobsContract } from "./contract.ts";
import { jobView } from "./job-view.ts";
import { mtuPlan, pingPlan, restartPlan, tracePlan } from "../../registry/pair-plans.ts";
import type { Pair, PlanResult } from "../../registry/pair-plans.ts";
import { bundlePlan, profilePlan } from "./report-plans.ts";
import { throughputPlan } from "./throughput-plan.ts";

type Started = Promise<Result<JobView, Failure>>;

export async function startPing(deps: FeatureDeps, call: Call, input: InputOf<typeof jobsContract.ping>): Started {
  const pair = await findPair(deps, input);
  return pair.ok ? begin({ deps, call, action: "jobs.ping" }, pingPlan(deps, pair.value, input.count)) : pair;
}

export async function startTrace(deps: FeatureDeps, call: Call, input: InputOf<typeof jobsContract.trace>): Started {
  const { peerId, targetPeerId } = input;
  if (targetPeerId === undefined) {
    const peer = await findNode(deps, peerId);
    return peer.ok
      ? begin({ deps, call, action: "jobs.trace" }, tracePlan(deps, { peer: peer.value, target: null }, input))
      : peer;
  }
  const pair = await findPair(deps, { peerId, targetPeerId });
  return pair.ok ? begin({ deps, call, action: "jobs.trace" }, tracePlan(deps, pair.value, input)) : pair;
}

export async function startMtuProbe(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.mtuProbe>,
): Started {
  const pair = await findPair(deps, input);
  return pair.ok ? begin({ deps, call, action: "jobs.mtuProbe" }, mtuPlan(deps, pair.value)) : pair;
}

export async function startThroughput(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.throughput>,
): Started {
  const pair = await findPair(deps, input);
  return pair.ok
    ? begin({ deps, call, action: "jobs.throughput" }, await throughputPlan(deps, pair.value, input))
    : pair;
}

export async function startRestart(
  deps: FeatureDeps,
  call: Call,
  { peerId, what }: InputOf<typeof jobsContract.restart>,
): Started {
  const peer = await findNode(deps, peerId);
  return peer.ok ? begin({ deps, call, action: "jobs.restart" }, restartPlan(deps, peer.value, what)) : peer;
}

export async function startProfile(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.recordProfile>,
): Started {
  const peer = await findNode(deps, input.peerId);
  return peer.ok ? begin({ deps, call, action: "jobs.recordProfile" }, ok(profilePlan(deps, peer.value, input))) : peer;
}

export async function startBundle(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.collectBundle>,
): Started {
  const peer = await findNode(deps, input.peerId);
  return peer.ok ? begin({ deps, call, action: "jobs.collectBundle" }, ok(bundlePlan(deps, peer.value, input))) : peer;
}

/** Records a CPU profile of a node's agent and waits for it. */
export async function profilePeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.profile>,
): Outcome<typeof jobsContract.profile> {
  const peer = await findNode(deps, input.peerId);
  if (!peer.ok) return peer;
  const found = await finish({ deps, call, action: "jobs.profile" }, ok(profilePlan(deps, peer.value, input)));
  return found.ok ? ok(jobsContract.profile.output.parse(found.value)) : found;
}

/** Fetches a debug bundle of a node's agent and waits for it. */
export async function debugPeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.debugBundle>,
): Outcome<typeof jobsContract.debugBundle> {
  const peer = await findNode(deps, input.peerId);
  if (!peer.ok) return peer;
  const found = await finish({ deps, call, action: "jobs.debugBundle" }, ok(bundlePlan(deps, peer.value, input)));
  return found.ok ? ok(jobsContract.debugBundle.output.parse(found.value)) : found;
}

type Asking = { readonly deps: FeatureDeps; readonly call: Call; readonly action: string };

async function begin({ deps, call, action }: Asking, plan: PlanResult): Started {
  if (!plan.ok) return plan;
  const started = await deps.jobs.start(call, { ...plan.value, action });
  return started.ok ? ok(jobView(started.value.job)) : started;
}

/** Begins a job and waits for what it finds. */
async function finish({ deps, call, action }: Asking, plan: PlanResult): Promise<Result<object, Failure>> {
  if (!plan.ok) return plan;
  const started = await deps.jobs.start(call, { ...plan.value, action });
  if (!started.ok) return started;
  const ended = await started.value.ended;
  return ended.ok ? ok(ended.value.result) : ended;
}

async function findNode({ database }: FeatureDeps, id: string): Promise<Result<Peer, Failure>> {
  const peer = await findPeer(database.db, id);
  return peer ? ok(peer) : err({ code: "not_found", what: "peer" });
}

async function findPair(
  { database: { db } }: FeatureDeps,
  { peerId, targetPeerId }: { readonly peerId: string; readonly targetPeerId: string },
): Promise<Result<Pair, Failure>> {
  const [peer, target] = [await findPeer(db, peerId), await findPeer(db, targetPeerId)];
  if (!peer || !target || peer.networkId !== target.networkId) return err({ code: "not_found", what: "peer" });
  return peer.id === target.id ? err({ code: "same_peer" }) : ok({ peer, target });
}
