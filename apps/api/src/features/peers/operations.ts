import type { HandlersOf } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";
import { expirePeer } from "./expire-peer.ts";
import { getPeer } from "./get-peer.ts";
import { listPeers } from "./list-peers.ts";
import { pingPeer } from "./ping-peer.ts";
import { removePeer } from "./remove-peer.ts";
import { updatePeer } from "./update-peer.ts";

export const peersOperations: HandlersOf<typeof peersContract> = {
  list: listPeers,
  get: getPeer,
  update: updatePeer,
  expire: expirePeer,
  remove: removePeer,
  ping: pingPeer,
};
