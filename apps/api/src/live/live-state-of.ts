import { err, ok, workCapability } from "@weft/protocol";
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
      const { presence, traffic } = hub;
      const known = { presence, traffic: traffic.find(id), status: traffic.statusOf(id) };
      return livePeer(known, found.peer, place);
    },
    link: (from, to) => hub.traffic.find(from)?.links().get(to),
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
      const outcome = await hub.jobs.start({
        peerId: from,
        name: source.peer.name,
        work: { kind: "ping", target: address, count },
        timeLimitMs: count * PING_MS + PING_MARGIN_MS,
        send: stream.socket.send,
      });
      if (!outcome.ok) return outcome;
      if (outcome.value.kind === "ping") return ok(outcome.value);
      return err({ code: "job_failed", name: source.peer.name, detail: "it answered something else" });
    },
    async report({ peerId, work, timeLimitMs }) {
      const found = hub.find(peerId);
      const stream = found?.hub.streams.get(peerId);
      const name = found?.peer.name ?? peerId;
      if (!found || !stream) return err({ code: "peer_offline", name });
      if (!found.peer.capabilities.includes(workCapability(work.kind))) return err({ code: "job_unsupported", name });
      const outcome = await hub.jobs.start({ peerId, name, work, timeLimitMs, send: stream.socket.send });
      if (!outcome.ok) return outcome;
      if (outcome.value.kind === "report") return ok(outcome.value.text);
      return err({ code: "job_failed", name, detail: "it answered something else" });
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

const PING_MS = 1_200;
const PING_MARGIN_MS = 2_000;
