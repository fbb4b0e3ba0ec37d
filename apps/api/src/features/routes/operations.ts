import type { HandlersOf } from "../../registry/handler.ts";
import { approveRoute, createRoute, removeRoute } from "./change-routes.ts";
import type { routesContract } from "./contract.ts";
import { findConflicts, listRoutes } from "./list-routes.ts";

export const routesOperations: HandlersOf<typeof routesContract> = {
  list: listRoutes,
  conflicts: findConflicts,
  create: createRoute,
  approve: approveRoute,
  remove: removeRoute,
};
