import type { LiveState } from "../../registry/live-state.ts";
import type { Prefix } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { allNetworks } from "../../db/networks-repository.ts";
import { allRoutes } from "../../db/routes-repository.ts";
import type { StoredRoute } from "../../db/routes-repository.ts";
import { routeConflicts, routeKind } from "../../domain/route.ts";

/** What any range of a network would share addresses with. */
export type Neighbours = {
  readonly routes: readonly StoredRoute[];
  readonly ranges: readonly { readonly range: Prefix; readonly network: string }[];
};

/** Reads what routes of a network can conflict with. */
export async function readNeighbours(db: Executor, networkId: StoredRoute["networkId"]): Promise<Neighbours> {
  const networks = (await allNetworks(db)).filter(({ id }) => id === networkId);
  const ranges = networks.flatMap(({ name, ipv4Range, ipv6Range }) =>
    [ipv4Range, ipv6Range].flatMap((range) => (range ? [{ range, network: name }] : [])),
  );
  return { routes: await allRoutes(db, networkId), ranges };
}

/** A route as callers see it, with what else has its addresses. */
export function routeView(route: StoredRoute, { routes, ranges }: Neighbours, live: LiveState) {
  const { id, prefix, createdAt, ...own } = route;
  const others = routes.filter((other) => other.id !== id);
  const conflicts = [...routeConflicts(prefix, others, ranges)];
  const router = live.peer(route.peerId)?.presence ?? "unknown";
  return { id, prefix, ...own, kind: routeKind(route), router, conflicts, createdAt: createdAt.toISOString() };
}
