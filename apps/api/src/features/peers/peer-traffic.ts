import { err } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import { peerTraffic as readPeerTraffic } from "../../db/traffic-repository.ts";
import { answerTraffic } from "../../registry/answer-traffic.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";

/** Shows what a peer moved, step by step. */
export async function peerTraffic(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.traffic>,
): Outcome<typeof peersContract.traffic> {
  const { db } = deps.database;
  const peer = await findPeer(db, input.peerId);
  if (!peer) return err({ code: "not_found", what: "peer" });
  return answerTraffic(deps, input, (span) => readPeerTraffic(db, peer.id, span));
}
