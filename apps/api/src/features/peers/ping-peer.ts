import { err, ok } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { PingFoundSchema } from "../../registry/job-schemas.ts";
import { pingPlan } from "../../registry/pair-plans.ts";
import type { peersContract } from "./contract.ts";

/** Lets one peer ping another through the tunnel, and waits for it. */
export async function pingPeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, targetPeerId, count }: InputOf<typeof peersContract.ping>,
): Outcome<typeof peersContract.ping> {
  const { db } = deps.database;
  const from = await findPeer(db, peerId);
  const to = await findPeer(db, targetPeerId);
  if (!from || !to || from.networkId !== to.networkId) return err({ code: "not_found", what: "peer" });
  if (from.id === to.id) return err({ code: "same_peer" });
  const plan = pingPlan(deps, { peer: from, target: to }, count);
  if (!plan.ok) return plan;
  const started = await deps.jobs.start(call, { ...plan.value, action: "peers.ping" });
  const ended = started.ok ? await started.value.ended : started;
  if (!ended.ok) return ended;
  const { sent, received, rttMicroseconds, endpoint } = PingFoundSchema.parse(ended.value.result);
  return ok({ sent, received, rttMicroseconds, endpoint, path: received > 0 ? "direct" : "none" });
}
