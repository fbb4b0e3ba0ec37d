import type { Peer } from "./types.ts";
import type { StatusKind } from "../ui/status.tsx";

/** What is said about a peer in one word: an expired one is that before anything else. */
export type Standing = Peer["presence"] | "expired";

export function standingOf(peer: Peer): Standing {
  return peer.state === "expired" ? "expired" : peer.presence;
}

/** The shape of a standing. */
export const STANDING_KINDS: Record<Standing, StatusKind> = {
  online: "good",
  offline: "bad",
  unknown: "idle",
  expired: "warn",
};

/** Online first, expired last; for sorting. */
export const STANDING_ORDER: Record<Standing, number> = { online: 0, unknown: 1, offline: 2, expired: 3 };
