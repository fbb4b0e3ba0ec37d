import type { NetworkId, PeerId } from "@weft/protocol";
import { guarded } from "../jobs/guarded.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { routeKind } from "../domain/route.ts";
import type { AttachedStream } from "./attached-stream.ts";
import type { LiveHub } from "./live-hub.ts";
import type { NetworkHub } from "./network-hub.ts";

/** Which routers of a network answer this server, and what to do with that. */
export type RouterReport = {
  readonly networkId: NetworkId;
  /** Routers with a stream to this server that answers. */
  readonly up: readonly PeerId[];
  /** Routers whose stream to this server ended or went silent since the last report. */
  readonly lost: readonly PeerId[];
};

export type RouteWatchDeps = {
  readonly hub: LiveHub;
  readonly clock: WallClock;
  readonly settle: (report: RouterReport) => Promise<void>;
  readonly onError: (event: string, error: unknown) => void;
};

/**
 * Asks routers that stand in for each other every second whether they are there, and reports who is. Nothing is asked and
 * nothing is written where every range has one router.
 */
export function startRouteWatch(deps: RouteWatchDeps): { readonly dispose: () => Promise<void> } {
  const { hub, clock } = deps;
  const known = new Map<NetworkId, { up: ReadonlySet<PeerId>; reportedMs: number }>();
  const asked = new WeakMap<AttachedStream, Asked>();
  let running: Promise<void> = Promise.resolve();
  let isBusy = false;
  let token = 0n;

  /** Asks a router that was silent for a moment; tells how many questions in a row it has left without an answer. */
  const ask = (stream: AttachedStream, nowMs: number): number => {
    const last = asked.get(stream);
    // Questions are counted, not time: a server that stood still has not asked.
    const unanswered = !last || stream.lastHeardMs >= last.atMs ? 0 : last.unanswered + 1;
    const isSilent = nowMs - stream.lastHeardMs >= ASK_MS;
    asked.set(stream, { atMs: isSilent ? nowMs : (last?.atMs ?? Number.NEGATIVE_INFINITY), unanswered });
    if (!isSilent) return unanswered;
    token += 1n;
    stream.socket.send({ kind: "ping", token });
    return unanswered;
  };
  const lookAt = async (network: NetworkHub): Promise<void> => {
    const nowMs = clock.nowMs();
    const routers = standIns(network);
    const before = known.get(network.id);
    if (routers.length === 0) return void known.delete(network.id);
    const up = new Set<PeerId>();
    for (const id of routers) {
      const stream = network.streams.get(id);
      const answers = stream && ask(stream, nowMs) <= UNANSWERED_MAX;
      // A host that cannot forward is no router, however well its agent answers.
      if (answers && hub.traffic.statusOf(id)?.forwarding !== "fails") up.add(id);
    }
    const lost = [...(before?.up ?? [])].filter((id) => !up.has(id));
    const isNew = !before || lost.length > 0 || [...up].some((id) => !before.up.has(id));
    if (!isNew && nowMs - before.reportedMs < LEASE_RENEWAL_MS) return;
    await deps.settle({ networkId: network.id, up: [...up], lost });
    known.set(network.id, { up, reportedMs: nowMs });
  };
  const turn = async (): Promise<void> => {
    for (const network of hub.networks.values()) await lookAt(network);
  };
  const tick = (): void => {
    if (isBusy) return;
    isBusy = true;
    running = turn()
      .catch((error: unknown) => deps.onError("routes_not_watched", error))
      .finally(() => {
        isBusy = false;
      });
  };
  const timer = setInterval(
    guarded(tick, (error) => deps.onError("routes_not_watched", error)),
    TICK_MS,
  );
  return {
    dispose() {
      clearInterval(timer);
      return running;
    },
  };
}

/** The newest question to a router, and how many in a row before it were not answered. */
type Asked = { readonly atMs: number; readonly unanswered: number };

/** Peers that serve a range which another peer serves, too. */
function standIns({ mirror }: NetworkHub): readonly PeerId[] {
  const byPrefix = new Map<string, PeerId[]>();
  for (const { id, serves } of mirror.peers().values()) {
    for (const route of serves) {
      const { prefix } = route;
      if (routeKind(route) === "exit") continue;
      byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), id]);
    }
  }
  return [...new Set([...byPrefix.values()].filter((ids) => ids.length > 1).flat())];
}

const TICK_MS = 1_000;
/** A router that was silent for so long is asked whether it is there. */
const ASK_MS = 900;
/** A router that left more questions in a row without an answer is not there. */
const UNANSWERED_MAX = 3;
/** What is known of routers holds for three times as long, for the case that this server dies. */
const LEASE_RENEWAL_MS = 15_000;
export const LEASE_MS = 45_000;
