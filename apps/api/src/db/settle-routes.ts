import { prefixParts } from "@weft/protocol";
import type { NetworkId, PeerId, Prefix, RouteId, ServedRoute } from "@weft/protocol";
import { chooseRoute } from "../domain/route-failover.ts";
import type { RouteCandidate } from "../domain/route-failover.ts";
import type { Executor } from "./client.ts";
import { publishChanges } from "./networks-repository.ts";
import { routedPeers, setPeerRoutes } from "./peers-repository.ts";
import { activateRoutes, allRoutes } from "./routes-repository.ts";
import type { StoredRoute } from "./routes-repository.ts";

/** A route that took over from another one. */
export type RouteSwitch = { readonly prefix: Prefix; readonly from: RouteId | null; readonly to: RouteId };

/**
 * Chooses the way to every range of a network anew and writes into the rows of peers what maps say of it; who may see such a
 * peer is told. Call it under the network's lock.
 */
export async function settleRoutes(tx: Executor, networkId: NetworkId, at: Date): Promise<readonly RouteSwitch[]> {
  const approved = (await allRoutes(tx, networkId)).filter(({ state }) => state === "approved");
  const peers = await routedPeers(tx, networkId);
  const upSince = new Map(peers.map((peer) => [peer.id, peer.upUntil && peer.upUntil > at ? peer.upSince : null]));
  const chosen = chosenRoutes(approved, upSince, at);
  const switches = approved
    .filter(({ id, active }) => chosen.has(id) && !active)
    .map(({ id, prefix }) => ({ prefix, from: formerRoute(approved, { id, prefix }), to: id }));
  const changed = approved.some(({ id, active }) => active !== chosen.has(id));
  if (changed) await activateRoutes(tx, networkId, [...chosen]);
  const told: PeerId[] = [];
  for (const peer of peers) {
    const own = approved.filter(({ peerId }) => peerId === peer.id);
    const routes = own.flatMap(({ id, prefix }) => (chosen.has(id) ? [prefix] : [])).toSorted();
    const serves = servedBy(own);
    if (routes.join() === peer.routes.join() && JSON.stringify(serves) === JSON.stringify(peer.serves)) continue;
    await setPeerRoutes(tx, peer.id, { routes, serves });
    told.push(peer.id);
  }
  if (told.length === 0) return switches;
  await publishChanges(tx, networkId, { changes: told.map((peerId) => ({ kind: "peer", peerId })), at });
  return switches;
}

/** Of each range one; of the ways to everything all, because each peer chooses its own. */
function chosenRoutes(
  approved: readonly StoredRoute[],
  upSince: ReadonlyMap<PeerId, Date | null>,
  at: Date,
): ReadonlySet<RouteId> {
  const byPrefix = new Map<Prefix, StoredRoute[]>();
  for (const route of approved) byPrefix.set(route.prefix, [...(byPrefix.get(route.prefix) ?? []), route]);
  const chosen = new Set<RouteId>();
  for (const [prefix, routes] of byPrefix) {
    if (prefixParts(prefix).length === 0) for (const { id } of routes) chosen.add(id);
    else {
      const candidates: RouteCandidate[] = routes.map((route) => ({
        ...route,
        upSince: upSince.get(route.peerId) ?? null,
      }));
      const one = chooseRoute(candidates, at);
      if (one) chosen.add(one.id);
    }
  }
  return chosen;
}

function formerRoute(approved: readonly StoredRoute[], now: Pick<StoredRoute, "id" | "prefix">): RouteId | null {
  return approved.find(({ id, prefix, active }) => active && prefix === now.prefix && id !== now.id)?.id ?? null;
}

function servedBy(routes: readonly StoredRoute[]): readonly ServedRoute[] {
  return routes
    .map(({ prefix, masquerade }): ServedRoute => ({ prefix, masquerade: masquerade ? "on" : "off" }))
    .toSorted((left, right) => (left.prefix < right.prefix ? -1 : 1));
}
