import type { NetworkId, RandomBytes } from "@weft/protocol";
import { guarded } from "../jobs/guarded.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { LiveHub } from "./live-hub.ts";
import { HEARTBEAT_MS, SILENCE_MS } from "./node-session.ts";

/** Pings every stream, cuts silent ones, and lets the grace of broken ones end. */
export function startHeartbeats(deps: {
  readonly hub: LiveHub;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly onError: (event: string, error: unknown) => void;
}): { readonly dispose: () => void } {
  let token = 0n;
  const tick = () => {
    const nowMs = deps.clock.nowMs();
    for (const network of deps.hub.networks.values()) {
      for (const stream of network.streams.values()) {
        // A wall clock that was set back: without this a dead node would look alive for as long as it was set back.
        stream.lastHeardMs = Math.min(stream.lastHeardMs, nowMs);
        stream.nextPingMs = Math.min(stream.nextPingMs, nowMs + HEARTBEAT_MS * 1.1);
        if (nowMs - stream.lastHeardMs > SILENCE_MS) {
          stream.socket.cut();
        } else if (nowMs >= stream.nextPingMs) {
          token += 1n;
          stream.socket.send({ kind: "ping", token });
          stream.nextPingMs = nowMs + jittered(deps.random);
        }
      }
    }
    for (const peerId of deps.hub.presence.takeExpired(nowMs)) {
      const found = deps.hub.find(peerId);
      if (found) deps.hub.feeds.notePeer(found.hub.id, peerId);
    }
    settle(nowMs);
  };
  // Right after a start silent nodes are "unknown"; once that time is over their rows change without any event.
  let isSettled = false;
  const startedMs = deps.clock.nowMs();
  const settle = (nowMs: number) => {
    if (isSettled || nowMs - startedMs < HEARTBEAT_MS) return;
    isSettled = true;
    for (const [id, network] of deps.hub.networks) noteAll(id, network.mirror.peers().keys());
  };
  const noteAll = (id: NetworkId, peers: Iterable<Parameters<typeof deps.hub.find>[0]>) => {
    for (const peerId of peers) deps.hub.feeds.notePeer(id, peerId);
  };
  const timer = setInterval(
    guarded(tick, (error) => deps.onError("heartbeats_failed", error)),
    TICK_MS,
  );
  return { dispose: () => clearInterval(timer) };
}

/** Fifteen seconds, ten per cent more or less, so that streams do not beat together. */
function jittered(random: RandomBytes): number {
  const fraction = (random(1)[0] ?? 128) / 255;
  return HEARTBEAT_MS * (0.9 + 0.2 * fraction);
}

const TICK_MS = 500;
