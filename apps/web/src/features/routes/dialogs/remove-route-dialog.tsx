import type { ReactNode } from "react";
import { toProblem } from "../../../api/error-text.ts";
import type { Route } from "../../../api/types.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { peerName, type PeersById, routeTitle } from "../route-text.ts";
import { useRouteChanges, useStandIns } from "../use-routes.ts";
import type { RouteDialogProps } from "./route-dialog.ts";

/** Removes a route, or refuses one that waits, after telling what that does. */
export function RemoveRouteDialog({ route, peers, onClose }: RouteDialogProps): ReactNode {
  const text = pageStrings.routes.dialog;
  const standIns = useStandIns(route);
  const { remove } = useRouteChanges(onClose);
  const isPending = route.state === "pending";
  const title = routeTitle(route, peers);
  return (
    <ConfirmDialog
      title={isPending ? text.refuseTitle(title) : text.removeTitle(title)}
      consequences={consequences(route, peers, standIns).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      action={isPending ? text.refuseTitle(title) : text.removeTitle(title)}
      state={{ isPending: remove.isPending, problem: remove.error ? toProblem(remove.error) : null }}
      onConfirm={() => remove.mutate(route)}
      onClose={onClose}
    />
  );
}

function consequences(route: Route, peers: PeersById, standIns: readonly Route[]): readonly string[] {
  const text = pageStrings.routes.dialog;
  const name = peerName(peers, route.peerId);
  if (route.state === "pending") return [text.refuseConsequences];
  if (route.kind === "exit") {
    const users = [...peers.values()].filter(({ exit }) => exit?.peerId === route.peerId).length;
    return [text.removeExit(name, users)];
  }
  if (!route.active) return [text.removeReserve];
  // As the server chooses: one that is there before others, then the lowest priority.
  const [next] = standIns.toSorted(
    (a, b) => Number(b.router === "online") - Number(a.router === "online") || a.priority - b.priority,
  );
  return [
    text.removeServing(route.prefix, name),
    next ? text.removeStandIn(peerName(peers, next.peerId)) : text.removeLast,
  ];
}
