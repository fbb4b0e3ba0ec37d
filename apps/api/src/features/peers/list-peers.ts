import { err } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { listPeers as readPeers } from "../../db/peers-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { peerView } from "../../registry/views.ts";
import { peersSpec } from "./contract.ts";
import type { peersContract } from "./contract.ts";

/** Lists the peers of a network. */
export async function listPeers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.list>,
): Outcome<typeof peersContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: peersSpec,
    scope: networkId,
    input,
    read: (request) => readPeers(db, networkId, request),
    view: (peer) => peerView(peer, deps.live.peer(peer.id), network),
  });
}
