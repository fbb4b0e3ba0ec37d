import { err, ok, prefixContains, prefixesOverlap, routeIds } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { allApprovers } from "../../db/route-approvers-repository.ts";
import { changeRoute, deleteRoute, findRoute, insertRoute } from "../../db/routes-repository.ts";
import type { StoredRoute } from "../../db/routes-repository.ts";
import { settleRoutes } from "../../db/settle-routes.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Peer } from "../../domain/peer.ts";
import { parseRoutePrefix, routeKind } from "../../domain/route.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { routesContract } from "./contract.ts";
import { readNeighbours, routeView } from "./route-view.ts";

/** Says that a range lies behind a peer; an approver of its group lets packets in at once. */
export async function createRoute(
  deps: FeatureDeps,
  call: Call,
  { peerId, prefix, ...settings }: InputOf<typeof routesContract.create>,
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
    const isExit = routeKind({ prefix: parsed.value }) === "exit";
    const inside = isExit ? undefined : neighbours.ranges.find(({ range }) => prefixesOverlap(range, parsed.value));
    if (inside) return err({ code: "range_overlaps", range: parsed.value, network: inside.network });
    const twin = neighbours.routes.find((route) => route.peerId === peer.id && route.prefix === parsed.value);
    if (twin) return err({ code: "route_taken", prefix: twin.prefix, routeId: twin.id });
    const own = { id: routeIds.make(deps.random), networkId, peerId: peer.id, prefix: parsed.value };
    const approver = await approverOf(tx, peer, own);
    const state = approver ? "approved" : "pending";
    await insertRoute(tx, { ...own, ...settings, state, active: false, createdAt: at });
    if (approver) await settleRoutes(tx, networkId, at);
    const view = await viewOf(deps, tx, own.id);
    const note = { action: "routes.create", objectId: own.id, networkId };
    await recordAudit(tx, call, { ...note, before: null, after: { ...view, approvedBy: approver?.id ?? null }, at });
    return ok(view);
  });
}

/** Changes how a range is reached. */
export async function updateRoute(
  deps: FeatureDeps,
  call: Call,
  { routeId, description, masquerade, priority }: InputOf<typeof routesContract.update>,
): Outcome<typeof routesContract.update> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const before = await lockRoute(tx, routeId);
    if (!before.ok) return before;
    const route = before.value;
    const settings = {
      description: description ?? route.description,
      masquerade: masquerade ?? route.masquerade,
      priority: priority ?? route.priority,
    };
    await changeRoute(tx, route.id, settings);
    await settleRoutes(tx, route.networkId, at);
    const note = { action: "routes.update", objectId: route.id, networkId: route.networkId };
    const old = { description: route.description, masquerade: route.masquerade, priority: route.priority };
    await recordAudit(tx, call, { ...note, before: old, after: settings, at });
    return ok(await viewOf(deps, tx, route.id));
  });
}

/** Lets packets into the range behind a peer; beside an approved way to the same range it stands in reserve. */
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
    if (route.state === "approved") return ok(await viewOf(deps, tx, route.id));
    await changeRoute(tx, route.id, { state: "approved" });
    await settleRoutes(tx, route.networkId, at);
    const view = await viewOf(deps, tx, route.id);
    const note = { action: "routes.approve", objectId: route.id, networkId: route.networkId };
    await recordAudit(tx, call, { ...note, before: { state: route.state }, after: view, at });
    return ok(view);
  });
}

/** Removes a route; another approved way to its range takes over. */
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
    const view = await viewOf(deps, tx, route.id);
    await deleteRoute(tx, route.id);
    if (route.state === "approved") await settleRoutes(tx, route.networkId, at);
    const note = { action: "routes.remove", objectId: route.id, networkId: route.networkId };
    await recordAudit(tx, call, { ...note, before: view, after: null, at });
    return ok(undefined);
  });
}

async function lockRoute(tx: Executor, id: string): Promise<Result<StoredRoute, Failure>> {
  const networkId = (await findRoute(tx, id))?.networkId;
  if (networkId) await lockNetwork(tx, networkId);
  const route = await findRoute(tx, id);
  return route ? ok(route) : err({ code: "not_found", what: "route" });
}

async function viewOf(deps: FeatureDeps, tx: Executor, id: StoredRoute["id"]) {
  const route = await findRoute(tx, id);
  if (!route) throw new Error(`route ${id} was read by this transaction and is gone`);
  return routeView(route, await readNeighbours(tx, route.networkId), deps.live);
}

/** What approves a route without anybody: the peer is in its group, and the range inside its range. */
async function approverOf(tx: Executor, peer: Peer, { networkId, prefix }: Pick<StoredRoute, "networkId" | "prefix">) {
  const approvers = await allApprovers(tx, networkId);
  const isExit = routeKind({ prefix }) === "exit";
  return approvers.find(
    (approver) =>
      peer.groupIds.includes(approver.groupId) &&
      // Who may serve every range may not serve everybody's traffic; that has to be said.
      (isExit ? approver.prefix === prefix : prefixContains(approver.prefix, prefix)),
  );
}
