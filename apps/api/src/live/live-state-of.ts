import { err } from "@weft/protocol";
import type { LiveState } from "../registry/live-state.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { LiveHub } from "./live-hub.ts";
import { livePeer } from "./live-views.ts";

/** The live side as use cases see it. */
export function liveStateOf(hub: LiveHub, clock: WallClock): LiveState {
  return {
    peer(id) {
      const found = hub.find(id);
      if (!found) return undefined;
      const place = { stream: found.hub.streams.get(id), nowMs: clock.nowMs() };
      return livePeer({ presence: hub.presence, traffic: hub.traffic.find(id) }, found.peer, place);
    },
    onlineCount(id) {
      const nowMs = clock.nowMs();
      const peers = hub.networks.get(id)?.mirror.peers().keys() ?? [];
      let online = 0;
      for (const peerId of peers) if (hub.presence.stateOf(peerId, nowMs) === "online") online += 1;
      return online;
    },
    async ping({ from, to, count }) {
      const source = hub.find(from);
      const target = hub.find(to)?.peer;
      const stream = source?.hub.streams.get(from);
      const address = target?.ipv4 ?? target?.ipv6;
      if (!source || !stream) return err({ code: "peer_offline", name: source?.peer.name ?? from });
      if (!target || !address) return err({ code: "not_found", what: "peer" });
      return hub.pings.start({ name: source.peer.name, target: address, count, send: stream.socket.send });
    },
    watchNetwork(id, signal) {
      const network = hub.networks.get(id);
      return network ? hub.feeds.watchNetwork(network, signal) : nothing();
    },
    watchPeer(id, signal) {
      const found = hub.find(id);
      return found ? hub.feeds.watchPeer(found.hub, found.peer, signal) : nothing();
    },
  };
}

/** A subject that was removed a moment ago says nothing more. */
async function* nothing(): AsyncGenerator<never> {
  // ends at once
}
