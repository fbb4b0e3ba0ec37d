import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { listRoutes as readRoutes } from "../../db/routes-repository.ts";
import { parseRoutePrefix, routeConflicts } from "../../domain/route.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { routesSpec } from "./contract.ts";
import type { routesContract } from "./contract.ts";
import { readNeighbours, routeView } from "./route-view.ts";

/** Lists the ranges behind peers, newest first unless the caller wants another order. */
export async function listRoutes(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof routesContract.list>,
): Outcome<typeof routesContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const neighbours = await readNeighbours(db, network.id);
  return answerList(deps, {
    spec: routesSpec,
    scope: network.id,
    input,
    read: (request) => readRoutes(db, network.id, request),
    view: (route) => routeView(route, neighbours, deps.live),
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
