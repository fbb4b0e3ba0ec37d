import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import type { HandlersOf } from "../../registry/handler.ts";
import type { liveContract } from "./contract.ts";

export const liveOperations: HandlersOf<typeof liveContract> = {
  network: async (deps, { networkId }, signal) => {
    const network = await findNetwork(deps.database.db, networkId);
    return network ? ok(deps.live.watchNetwork(network.id, signal)) : err({ code: "not_found", what: "network" });
  },
  peer: async (deps, { peerId }, signal) => {
    const peer = await findPeer(deps.database.db, peerId);
    return peer ? ok(deps.live.watchPeer(peer, signal)) : err({ code: "not_found", what: "peer" });
  },
};
