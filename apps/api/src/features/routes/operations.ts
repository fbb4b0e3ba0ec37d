import type { HandlersOf } from "../../registry/handler.ts";
import { createApprover, listApprovers, removeApprover } from "./approvers.ts";
import { approveRoute, createRoute, removeRoute, updateRoute } from "./change-routes.ts";
import { chooseExit } from "./choose-exit.ts";
import type { routeApproversContract, routesContract } from "./contract.ts";
import { findConflicts, listRoutes } from "./list-routes.ts";

export const routesOperations: HandlersOf<typeof routesContract> = {
  list: listRoutes,
  conflicts: findConflicts,
  create: createRoute,
  update: updateRoute,
  approve: approveRoute,
  remove: removeRoute,
  chooseExit,
};

export const routeApproversOperations: HandlersOf<typeof routeApproversContract> = {
  list: listApprovers,
  create: createApprover,
  remove: removeApprover,
};
