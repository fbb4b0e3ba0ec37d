import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { countRoutes, listRoutes as readRoutes } from "../../db/routes-repository.ts";
import { parseRoutePrefix, routeConflicts } from "../../domain/route.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { routesContract } from "./contract.ts";
import { readNeighbours, routeView } from "./route-view.ts";

/** Lists the ranges behind peers, newest first. */
export async function listRoutes(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof routesContract.list>,
): Outcome<typeof routesContract.list> {
  const { db } = deps.database;
  const list = { name: `routes?network=${input.networkId}`, sort: "-createdAt" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const page = await readRoutes(db, { ...request.value, networkId: network.id });
  const neighbours = await readNeighbours(db, network.id);
  return ok({
    items: page.rows.map((route) => routeView(route, neighbours, deps.live)),
    nextCursor: nextCursor(deps, list, page.next),
    ...(input.count && { total: await countRoutes(db, network.id) }),
  });
}

/** Says what a range would share addresses with; nothing is written. */
export async function findConflicts(
  deps: FeatureDeps,
  _call: Call,
  { networkId, prefix }: InputOf<typeof routesContract.conflicts>,
): Outcome<typeof routesContract.conflicts> {
  const { db } = deps.database;
  const parsed = parseRoutePrefix(prefix);
  if (!parsed.ok) return parsed;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const { routes, ranges } = await readNeighbours(db, network.id);
  return ok({ conflicts: [...routeConflicts(parsed.value, routes, ranges)] });
}
