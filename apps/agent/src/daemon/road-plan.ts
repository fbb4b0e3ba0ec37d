import {
  familyOf,
  prefixParts,
  type ExitChoice,
  type IpAddress,
  type MapPeer,
  type MapSelf,
  type Prefix,
  type ServedRoute,
} from "@weft/protocol";

import { networkRanges, ownPrefixes } from "./map-to-tunnel.ts";

/** What the host's routing should be for one map; nothing of it is done yet. */
export type RoadPlan = {
  readonly interfaceName: string;
  readonly listenPort: number;
  /** Mark on the tunnel's own datagrams. */
  readonly mark: number;
  /** Ranges of the network itself. */
  readonly ranges: readonly Prefix[];
  /** Ranges behind other peers. */
  readonly routes: readonly Prefix[];
  /** Ranges that this host forwards into. */
  readonly serves: readonly ServedRoute[];
  /** Addresses of the static clients for which this host is the gateway; packets pass between them and the tunnel. */
  readonly clients: readonly Prefix[];
  readonly exit: ExitPlan | null;
  /** Where the control plane is reached; never through the tunnel. */
  readonly servers: readonly IpAddress[];
};

/** How everything goes that no route names. */
export type ExitPlan = Pick<ExitChoice, "lan"> & {
  /** Address families that the exit node carries for us; the others are blocked. */
  readonly families: readonly (4 | 6)[];
};

export type RoadFacts = Pick<RoadPlan, "interfaceName" | "listenPort" | "mark" | "servers"> & {
  /** Static clients for which this host is the gateway. */
  readonly clients: readonly MapPeer[];
  /** Whether the exit node has a session with us. */
  readonly exitAnswers: boolean;
};

/** Says what the routing of this host should be; null = nothing beside what the tunnel itself needs. */
export function roadPlan(self: MapSelf, routers: Iterable<MapPeer>, facts: RoadFacts): RoadPlan | null {
  const { exitAnswers, clients: ownClients, ...own } = facts;
  const ranges = networkRanges(self);
  const serves = self.serves ?? [];
  const clients = ownClients.flatMap(ownPrefixes).toSorted();
  const peers = [...routers];
  const routes = [...new Set(peers.flatMap((peer) => peer.routes))]
    .filter((prefix) => !isEverything(prefix))
    .toSorted();
  const exit = self.exit && (exitAnswers || self.exit.lost === "blocked") ? exitPlan(self, self.exit, peers) : null;
  if (routes.length + serves.length + clients.length === 0 && !exit) return null;
  return { ...own, ranges, routes, serves, clients, exit };
}

/** True for a route to all addresses of a family. */
export function isEverything(prefix: Prefix): boolean {
  return prefixParts(prefix).length === 0;
}

/** The address family of a range. */
export function familyOfPrefix(prefix: Prefix): 4 | 6 {
  return prefixParts(prefix).family;
}

/** Those of the ranges that belong to a family. */
export function ofFamily(prefixes: readonly Prefix[], family: 4 | 6): readonly Prefix[] {
  return prefixes.filter((prefix) => familyOfPrefix(prefix) === family);
}

function exitPlan(self: MapSelf, choice: ExitChoice, peers: readonly MapPeer[]): ExitPlan {
  const carried =
    peers
      .find(({ id }) => id === choice.peerId)
      ?.routes.filter(isEverything)
      .map(familyOfPrefix) ?? [];
  const own = [self.ipv4, self.ipv6].flatMap((address) => (address ? [familyOf(address)] : []));
  return { lan: choice.lan, families: own.filter((family) => carried.includes(family)) };
}
