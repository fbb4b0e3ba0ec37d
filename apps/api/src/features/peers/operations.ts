import type { HandlersOf } from "../../registry/handler.ts";
import type { peersContract } from "./contract.ts";
import { agentVersions } from "./agent-versions.ts";
import { diagnosePeer } from "./diagnose-peer.ts";
import { expirePeer } from "./expire-peer.ts";
import { getPeer } from "./get-peer.ts";
import { approvePeer, disablePeer, enablePeer, rejectPeer } from "./judge-peer.ts";
import { listPeers } from "./list-peers.ts";
import { movePeer } from "./move-peer.ts";
import { pingPeer } from "./ping-peer.ts";
import { reachablePeers } from "./reachable-peers.ts";
import { removePeer } from "./remove-peer.ts";
import { peerTraffic } from "./peer-traffic.ts";
import { updatePeer } from "./update-peer.ts";

export const peersOperations: HandlersOf<typeof peersContract> = {
  list: listPeers,
  versions: agentVersions,
  get: getPeer,
  update: updatePeer,
  expire: expirePeer,
  approve: approvePeer,
  reject: rejectPeer,
  disable: disablePeer,
  enable: enablePeer,
  remove: removePeer,
  move: movePeer,
  reachable: reachablePeers,
  diagnose: diagnosePeer,
  traffic: peerTraffic,
  ping: pingPeer,
};
