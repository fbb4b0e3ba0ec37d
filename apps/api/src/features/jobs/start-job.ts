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
  const plan = await forPair(deps, input, (pair) => pingPlan(deps, pair, input.count));
  return begin({ deps, call, action: "jobs.ping" }, plan);
}

export async function startTrace(deps: FeatureDeps, call: Call, input: InputOf<typeof jobsContract.trace>): Started {
  const { peerId, targetPeerId } = input;
  const plan =
    targetPeerId === undefined
      ? await forNode(deps, peerId, (peer) => tracePlan(deps, { peer, target: null }, input))
      : await forPair(deps, { peerId, targetPeerId }, (pair) => tracePlan(deps, pair, input));
  return begin({ deps, call, action: "jobs.trace" }, plan);
}

export async function startMtuProbe(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.mtuProbe>,
): Started {
  const plan = await forPair(deps, input, (pair) => mtuPlan(deps, pair));
  return begin({ deps, call, action: "jobs.mtuProbe" }, plan);
}

export async function startThroughput(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.throughput>,
): Started {
  const plan = await forPair(deps, input, (pair) => throughputPlan(deps, pair, input));
  return begin({ deps, call, action: "jobs.throughput" }, plan);
}

export async function startRestart(
  deps: FeatureDeps,
  call: Call,
  { peerId, what }: InputOf<typeof jobsContract.restart>,
): Started {
  const plan = await forNode(deps, peerId, (peer) => restartPlan(deps, peer, what));
  return begin({ deps, call, action: "jobs.restart" }, plan);
}

export async function startProfile(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.recordProfile>,
): Started {
  const plan = await forNode(deps, input.peerId, (peer) => ok(profilePlan(deps, peer, input)));
  return begin({ deps, call, action: "jobs.recordProfile" }, plan);
}

export async function startBundle(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.collectBundle>,
): Started {
  const plan = await forNode(deps, input.peerId, (peer) => ok(bundlePlan(deps, peer, input)));
  return begin({ deps, call, action: "jobs.collectBundle" }, plan);
}

/** Records a CPU profile of a node's agent and waits for it. */
export async function profilePeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.profile>,
): Outcome<typeof jobsContract.profile> {
  const plan = await forNode(deps, input.peerId, (peer) => ok(profilePlan(deps, peer, input)));
  const found = await finish({ deps, call, action: "jobs.profile" }, plan);
  return found.ok ? ok(jobsContract.profile.output.parse(found.value)) : found;
}

/** Fetches a debug bundle of a node's agent and waits for it. */
export async function debugPeer(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof jobsContract.debugBundle>,
): Outcome<typeof jobsContract.debugBundle> {
  const plan = await forNode(deps, input.peerId, (peer) => ok(bundlePlan(deps, peer, input)));
  const found = await finish({ deps, call, action: "jobs.debugBundle" }, plan);
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

async function forNode(
  { database }: FeatureDeps,
  id: string,
  plan: (peer: Peer) => PlanResult | Promise<PlanResult>,
): Promise<PlanResult> {
  const peer = await findPeer(database.db, id);
  return peer ? plan(peer) : err({ code: "not_found", what: "peer" });
}

async function forPair(
  { database: { db } }: FeatureDeps,
  { peerId, targetPeerId }: { readonly peerId: string; readonly targetPeerId: string },
  plan: (pair: Pair) => PlanResult | Promise<PlanResult>,
): Promise<PlanResult> {
  const [peer, target] = [await findPeer(db, peerId), await findPeer(db, targetPeerId)];
  if (!peer || !target || peer.networkId !== target.networkId) return err({ code: "not_found", what: "peer" });
  return peer.id === target.id ? err({ code: "same_peer" }) : plan({ peer, target });
}
