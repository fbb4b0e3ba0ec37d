import { lookup } from "node:dns/promises";
import type { EngineTuning, PeerState } from "@weft/dataplane";
import { parseIp, type IpAddress, type MapPeer } from "@weft/protocol";

import { serverHost, type ServerAddress } from "../settings/server-url.ts";
import type { StateStore } from "../state/state-store.ts";
import type { Timers } from "../stream/timers.ts";
import type { Log } from "./log.ts";
import type { MapSync } from "./map-sync.ts";
import { isEverything, roadPlan } from "./road-plan.ts";
import { createRoads, type Roads } from "./roads.ts";
import { TUNNEL_MARK } from "./tunnel-factory.ts";
import type { TunnelSystem } from "./tunnel-system.ts";

/** The host's routing, following the newest map. */
export type NodeRoads = Omit<Roads, "want"> & {
  /** Something that the routing depends on may have changed. */
  readonly follow: () => void;
};

type NodeRoadsDeps = {
  readonly timers: Timers;
  readonly log: Log;
  readonly system: TunnelSystem;
  readonly store: StateStore;
  readonly tuning: EngineTuning;
  readonly address: ServerAddress;
};

type NodeParts = {
  readonly sync: MapSync;
  readonly peerState: (peer: MapPeer) => PeerState | null;
  readonly remoteAddress: () => string | null;
  /** Its problems may be others now. */
  readonly changed: () => void;
};

export function createNodeRoads(
  deps: NodeRoadsDeps,
  { sync, peerState, remoteAddress, changed }: NodeParts,
): NodeRoads {
  const { timers, log, system, store, tuning } = deps;
  const servers = new Set<IpAddress>();
  const roads = createRoads({ host: system.roads, path: store.paths.roads, timers, log, changed });
  let cancelLook = (): void => {};
  let tunnelsMade = 0;
  let isOver = false;

  const noteServers = (found: readonly string[]): void => {
    for (const text of found) {
      const address = parseIp(text.replace(/^::ffff:/, ""));
      if (address.ok) servers.add(address.value);
    }
  };
  const exitAnswers = (): boolean => {
    const exit = sync.routers().find(({ id }) => id === sync.self()?.exit?.peerId);
    return exit !== undefined && peerState(exit)?.session.state === "up";
  };
  const follow = (): void => {
    cancelLook();
    if (isOver) return;
    const tunnel = sync.tunnel();
    const self = sync.self();
    if (!tunnel || !self) return roads.want(null);
    noteServers([remoteAddress() ?? ""]);
    const plan = roadPlan(self, sync.routers(), {
      interfaceName: tunnel.interfaceName,
      listenPort: tunnel.listenPort,
      mark: tuning.firewallMark ?? TUNNEL_MARK,
      servers: [...servers].toSorted(),
      clients: sync.ownClients(),
      exitAnswers: exitAnswers(),
    });
    roads.want(plan);
    // A new interface has none of the routes of the old one.
    if (tunnelsMade !== sync.tunnelsMade()) roads.again();
    tunnelsMade = sync.tunnelsMade();
    if (plan || self.exit) cancelLook = timers.after(LOOK_MS, () => void look());
  };
  /** The server's name may stand for other addresses by now, and the exit node may be away or back. */
  const look = async (): Promise<void> => {
    const host = serverHost(deps.address);
    // Without an answer the addresses that are known stay.
    const found = host === null ? [] : await lookup(host, { all: true }).catch(() => []);
    noteServers(found.map(({ address }) => address));
    follow();
  };
  return {
    follow,
    again: roads.again,
    problems: () => [...exitProblem(sync), ...roads.problems()],
    forwarding: roads.forwarding,
    clear: roads.clear,
    close() {
      isOver = true;
      cancelLook();
      return roads.close();
    },
  };
}

/** The reason is the server's to say: a node learns only who may carry its traffic. */
function exitProblem(sync: MapSync): string[] {
  const exit = sync.self()?.exit;
  if (!exit || sync.routers().some(({ id, routes }) => id === exit.peerId && routes.some(isEverything))) return [];
  const meaning = exit.lost === "direct" ? "goes past the tunnel" : "is blocked";
  return [
    `exit: the chosen exit node is not there (removed, disabled, not approved, or no rule lets this host use it), so all ` +
      `traffic that leaves the network ${meaning}; choose another one on the server, or none`,
  ];
}

const LOOK_MS = 5_000;
