import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { peerView } from "../../registry/views.ts";
import type { peersContract } from "./contract.ts";

/** Shows one peer. */
export async function getPeer(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.get>,
): Outcome<typeof peersContract.get> {
  const { db } = deps.database;
  const peer = await findPeer(db, input.peerId);
  const network = peer && (await findNetwork(db, peer.networkId));
  if (!peer || !network) return err({ code: "not_found", what: "peer" });
  return ok(peerView(peer, deps.live.peer(peer.id), network));
}
