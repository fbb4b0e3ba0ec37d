import { err, ok } from "@weft/protocol";
import { largestOpenFlows } from "../../db/flow-records-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { flowLogsContract } from "./contract.ts";
import { flowView } from "./flow-view.ts";

/** Shows the flows of a node that go on, those with the most bytes first. */
export async function topFlows(
  deps: FeatureDeps,
  _call: Call,
  { peerId, limit }: InputOf<typeof flowLogsContract.top>,
): Outcome<typeof flowLogsContract.top> {
  const { db } = deps.database;
  if (!(await findPeer(db, peerId))) return err({ code: "not_found", what: "peer" });
  // A node that went away says no more how its flows ended.
  const after = new Date(deps.clock.nowMs() - STALE_MS);
  const flows = await largestOpenFlows(db, peerId, { after, limit });
  return ok({ items: flows.map(flowView) });
}

/** A flow that goes on is reported every half minute. */
const STALE_MS = 90_000;
