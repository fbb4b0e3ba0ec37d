import { err, ok, prefixesOverlap, routeIds } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findPeer, setPeerRoutes } from "../../db/peers-repository.ts";
import { allRoutes, changeRoute, deleteRoute, findRoute, insertRoute } from "../../db/routes-repository.ts";
import type { StoredRoute } from "../../db/routes-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import { parseRoutePrefix } from "../../domain/route.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { routesContract } from "./contract.ts";
import { readNeighbours, routeView } from "./route-view.ts";

/** Says that a range lies behind a peer. */
export async function createRoute(
  deps: FeatureDeps,
  call: Call,
  { peerId, prefix, description }: InputOf<typeof routesContract.create>,
): Outcome<typeof routesContract.create> {
  const at = new Date(deps.clock.nowMs());
  const parsed = parseRoutePrefix(prefix);
  if (!parsed.ok) return parsed;
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, peerId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const peer = await findPeer(tx, peerId);
    if (!peer || !networkId) return err({ code: "not_found", what: "peer" });
    const neighbours = await readNeighbours(tx, networkId);
    const inside = neighbours.ranges.find(({ range }) => prefixesOverlap(range, parsed.value));
    if (inside) return err({ code: "range_overlaps", range: parsed.value, network: inside.network });
    const twin = neighbours.routes.find((route) => route.peerId === peer.id && route.prefix === parsed.value);
    if (twin) return err({ code: "route_taken", prefix: twin.prefix, routeId: twin.id });
    const route: StoredRoute = {
      id: routeIds.make(deps.random),
      networkId,
      peerId: peer.id,
      prefix: parsed.value,
      description,
      state: "pending",
      createdAt: at,
    };
    await insertRoute(tx, route);
    const view = routeView(route, neighbours);
    const note = { action: "routes.create", objectId: route.id, networkId };
    await recordAudit(tx, call, { ...note, before: null, after: view, at });
    return ok(view);
  });
}

/** Lets packets into the range behind a peer. */
export async function approveRoute(
  deps: FeatureDeps,
  call: Call,
  { routeId }: InputOf<typeof routesContract.approve>,
): Outcome<typeof routesContract.approve> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const before = await lockRoute(tx, routeId);
    if (!before.ok) return before;
    const route = before.value;
    const neighbours = await readNeighbours(tx, route.networkId);
    if (route.state === "approved") return ok(routeView(route, neighbours));
    const other = neighbours.routes.find(({ state, prefix }) => state === "approved" && prefix === route.prefix);
    if (other) return err({ code: "route_taken", prefix: other.prefix, routeId: other.id });
    const after: StoredRoute = { ...route, state: "approved" };
    await changeRoute(tx, route.id, after);
    await publishRoutes(tx, route, at);
    const view = routeView(after, neighbours);
    const note = { action: "routes.approve", objectId: route.id, networkId: route.networkId };
    await recordAudit(tx, call, { ...note, before: { state: route.state }, after: view, at });
    return ok(view);
  });
}

/** Removes a route. */
export async function removeRoute(
  deps: FeatureDeps,
  call: Call,
  { routeId }: InputOf<typeof routesContract.remove>,
): Outcome<typeof routesContract.remove> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const before = await lockRoute(tx, routeId);
    if (!before.ok) return before;
    const route = before.value;
    const neighbours = await readNeighbours(tx, route.networkId);
    await deleteRoute(tx, route.id);
    if (route.state === "approved") await publishRoutes(tx, route, at);
    const note = { action: "routes.remove", objectId: route.id, networkId: route.networkId };
    await recordAudit(tx, call, { ...note, before: routeView(route, neighbours), after: null, at });
    return ok(undefined);
  });
}

async function lockRoute(tx: Executor, id: string): Promise<Result<StoredRoute, Failure>> {
  const networkId = (await findRoute(tx, id))?.networkId;
  if (networkId) await lockNetwork(tx, networkId);
  const route = await findRoute(tx, id);
  return route ? ok(route) : err({ code: "not_found", what: "route" });
}

/** Writes a peer's approved ranges into its row, where maps find them, and tells who may see it. */
async function publishRoutes(tx: Executor, { networkId, peerId }: StoredRoute, at: Date): Promise<void> {
  const own = (await allRoutes(tx, networkId)).filter((route) => route.peerId === peerId && route.state === "approved");
  await setPeerRoutes(tx, peerId, own.map(({ prefix }) => prefix).toSorted());
  await publishChanges(tx, networkId, { changes: [{ kind: "peer", peerId }], at });
}
