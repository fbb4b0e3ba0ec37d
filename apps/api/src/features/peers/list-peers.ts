import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { countPeers, listPeers as readPeers } from "../../db/peers-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import { peerView } from "../../registry/views.ts";
import type { peersContract } from "./contract.ts";

/** Lists the peers of a network. */
export async function listPeers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.list>,
): Outcome<typeof peersContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  const filter = { networkId, q: input.q, groupId: input.groupId, state: input.state };
  const name = `peers?${JSON.stringify(filter)}`;
  const request = pageRequest(deps, name, input);
  if (!request.ok) return request;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const page = await readPeers(db, { ...request.value, ...filter });
  return ok({
    items: page.rows.map((peer) => peerView(peer, deps.live.peer(peer.id), network)),
    nextCursor: nextCursor(deps, { name, sort: input.sort }, page.next),
    ...(input.count && { total: await countPeers(db, filter) }),
  });
}
