import type { Route } from "../api/types.ts";
import { aRoute, at } from "./builders.ts";
import { type Handlers, Refusal } from "./in-memory-link.ts";
import type { World } from "./world.ts";

type Page = <Item>(items: Item[]) => { items: Item[]; nextCursor: null };

/** Answers about routes, approvers and exit nodes. */
export function routeHandlers(world: World, page: Page): Handlers {
  const change = (routeId: string, by: Partial<Route>): Route => {
    const before = world.routes.find(({ id }) => id === routeId);
    if (!before) throw new Refusal(404, "not_found", `${routeId} does not exist`);
    const given = Object.fromEntries(Object.entries(by).filter(([, value]) => value !== undefined));
    const after = { ...before, ...given };
    world.routes = world.routes.map((route) => (route === before ? after : route));
    return after;
  };
  return {
    "routes.list": ({ q, state, peerId }) => {
      const found = world.routes.filter(
        (route) =>
          (q === undefined || `${route.prefix} ${route.description}`.includes(q)) &&
          (state === undefined || route.state === state) &&
          (peerId === undefined || route.peerId === peerId),
      );
      return { ...page(found), total: found.length };
    },
    "routes.conflicts": () => ({ conflicts: [] }),
    "routes.create": ({ peerId, prefix, description = "", masquerade = true, priority = 100 }) => {
      const route = aRoute({
        id: `rt_${world.routes.length + 1}`,
        peerId,
        prefix,
        description,
        masquerade,
        priority,
        state: "pending",
        active: false,
        createdAt: at(0),
      });
      world.routes.push(route);
      return route;
    },
    "routes.update": ({ routeId, ...said }) => change(routeId, said as Partial<Route>),
    "routes.approve": ({ routeId }) => change(routeId, { state: "approved", active: true }),
    "routes.remove": ({ routeId }) => void (world.routes = world.routes.filter(({ id }) => id !== routeId)),
    "routes.chooseExit": ({ peerId, exitPeerId, lan = "reachable", lost = "blocked" }) => {
      const before = world.peers.find(({ id }) => id === peerId);
      if (!before) throw new Refusal(404, "not_found", `${peerId} does not exist`);
      const after = { ...before, exit: exitPeerId === null ? null : { peerId: exitPeerId, lan, lost } };
      world.peers = world.peers.map((peer) => (peer === before ? after : peer));
      return after;
    },
    "routeApprovers.list": () => ({ ...page(world.approvers), total: world.approvers.length }),
    "routeApprovers.create": ({ networkId, groupId, prefix }) => {
      const approver = { id: `rap_${world.approvers.length}`, networkId, groupId, prefix, createdAt: at(0) };
      world.approvers.push(approver);
      return approver;
    },
    "routeApprovers.remove": ({ routeApproverId }) =>
      void (world.approvers = world.approvers.filter(({ id }) => id !== routeApproverId)),
    "auditEvents.list": () => page([]),
  };
}
