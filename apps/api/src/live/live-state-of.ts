import { err, forbiddenCapability, workCapability } from "@weft/protocol";
import type { LiveState } from "../registry/live-state.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { Peer } from "../domain/peer.ts";
import { liveClient } from "./client-presence.ts";
import type { LiveHub } from "./live-hub.ts";
import { knownOf, livePeer } from "./live-views.ts";

/** The live side as use cases see it. */
export function liveStateOf(hub: LiveHub, clock: WallClock): LiveState {
  return {
    peer(id) {
      const found = hub.find(id);
      if (!found) return undefined;
      const place = { stream: found.hub.streams.get(id), nowMs: clock.nowMs() };
      if (found.peer.kind === "client") return liveClient(hub.traffic, found.peer, place.nowMs);
      return livePeer(knownOf(hub, found.hub, found.peer), found.peer, place);
    },
    link: (from, to) => hub.traffic.find(from)?.links().get(to),
    onlineCount(id) {
      const nowMs = clock.nowMs();
      const peers = [...(hub.networks.get(id)?.mirror.peers().values() ?? [])];
      const presenceOf = (peer: Peer) =>
        peer.kind === "client" ? liveClient(hub.traffic, peer, nowMs).presence : hub.presence.stateOf(peer.id, nowMs);
      return peers.filter((peer) => presenceOf(peer) === "online").length;
    },
    refusal(peerId, kind) {
      const found = hub.find(peerId);
      const name = found?.peer.name ?? peerId;
      if (!found?.hub.streams.has(peerId)) return { code: "peer_offline", name };
      const { capabilities } = found.peer;
      if (capabilities.includes(forbiddenCapability(kind))) return { code: "job_forbidden", name, kind };
      const isKnown = kind === "ping" || capabilities.includes(workCapability(kind));
      return isKnown ? undefined : { code: "job_unsupported", name };
    },
    work({ peerId, work, timeLimitMs, onEvent, signal }) {
      const found = hub.find(peerId);
      const stream = found?.hub.streams.get(peerId);
      const name = found?.peer.name ?? peerId;
      if (!stream) return Promise.resolve(err({ code: "peer_offline", name }));
      return hub.jobs.start({ peerId, name, work, timeLimitMs, onEvent, signal, send: stream.socket.send });
    },
    async *watchNetwork(id, signal) {
      // A network that another replica made a moment ago may not have been read yet.
      const network = hub.networks.get(id) ?? (await hub.catchUp(id));
      if (network) yield* hub.feeds.watchNetwork(network, signal);
    },
    async *watchPeer(peer, signal) {
      if (!hub.find(peer.id)) await hub.catchUp(peer.networkId);
      const found = hub.find(peer.id);
      if (found) yield* hub.feeds.watchPeer(found.hub, found.peer, signal);
    },
  };
}
