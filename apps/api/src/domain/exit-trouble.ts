import type { Peer } from "./peer.ts";
import { routeKind } from "./route.ts";

/** Why the exit node that a peer chose cannot carry its traffic, and what that means; `null` when nothing speaks against it. */
export function exitTrouble(peer: Pick<Peer, "exitChoice">, exit: Pick<Peer, "name" | "state" | "routes"> | undefined) {
  if (!peer.exitChoice) return null;
  const reason = reasonOf(exit);
  if (reason === null) return null;
  const meaning =
    peer.exitChoice.lost === "direct" ? "its other traffic goes past the tunnel" : "all its other traffic is blocked";
  return `exit: ${reason}, so ${meaning} until another exit node is chosen, or none`;
}

function reasonOf(exit: Pick<Peer, "name" | "state" | "routes"> | undefined): string | null {
  if (!exit) return "the chosen exit node was removed";
  if (exit.state !== "active") return `the chosen exit node ${exit.name} is ${exit.state}`;
  const carries = exit.routes.some((prefix) => routeKind({ prefix }) === "exit");
  return carries ? null : `${exit.name} is no approved exit node any more`;
}
