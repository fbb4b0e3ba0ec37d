import type { Peer } from "./types.ts";
import type { StatusKind } from "../ui/status.tsx";

/** What is said about a peer in one word: one that takes no part is that before anything else. */
export type Standing = Peer["presence"] | Exclude<Peer["state"], "active">;

export function standingOf(peer: Peer): Standing {
  return peer.state === "active" ? peer.presence : peer.state;
}

/** The shape of a standing. */
export const STANDING_KINDS: Record<Standing, StatusKind> = {
  online: "good",
  offline: "bad",
  unknown: "idle",
  pending: "warn",
  expired: "warn",
  disabled: "idle",
  rejected: "idle",
};

/** Who waits for somebody first, who takes no part last; for sorting. */
export const STANDING_ORDER: Record<Standing, number> = {
  pending: 0,
  online: 1,
  unknown: 2,
  offline: 3,
  expired: 4,
  disabled: 5,
  rejected: 6,
};
