import type { HandlersOf } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";
import { getPeer } from "./get-peer.ts";
import { listPeers } from "./list-peers.ts";
import { pingPeer } from "./ping-peer.ts";
import { removePeer } from "./remove-peer.ts";
import { renamePeer } from "./rename-peer.ts";

export const peersOperations: HandlersOf<typeof peersContract> = {
  list: listPeers,
  get: getPeer,
  rename: renamePeer,
  remove: removePeer,
  ping: pingPeer,
};
