import type { Peer } from "../../api/types.ts";
import { clockProblem } from "../../format/clock.ts";

/** Something an operator should look at, worst first. */
export type Attention =
  | { readonly kind: "no-rule" }
  | { readonly kind: "routes-wait"; readonly count: number }
  | { readonly kind: "offline" | "pending" | "unknown"; readonly peer: Peer }
  | { readonly kind: "problem"; readonly peer: Peer; readonly problem: string };

/** What is known of the network. */
type Known = {
  readonly peers: readonly Peer[];
  readonly rules: "some" | "none" | "unknown";
  /** Routes that nobody has approved yet. */
  readonly waitingRoutes: number;
};

/** Finds what deserves a look: no rule at all, peers that are gone or in trouble, routes that wait, peers that are behind or silent. */
export function attention({ peers, rules, waitingRoutes }: Known): readonly Attention[] {
  const offline = peers.filter((peer) => peer.presence === "offline" && peer.state === "active");
  const behind = peers.filter((peer) => peer.presence === "online" && peer.map.state === "pending");
  const silent = peers.filter((peer) => peer.presence === "unknown");
  return [
    ...(rules === "none" ? [{ kind: "no-rule" } as const] : []),
    ...offline.map((peer) => ({ kind: "offline", peer }) as const),
    ...peers.flatMap((peer) => {
      const problem = peer.problems.at(0) ?? clockProblem(peer.clockSkewMs);
      return problem === undefined ? [] : [{ kind: "problem", peer, problem } as const];
    }),
    ...(waitingRoutes > 0 ? [{ kind: "routes-wait", count: waitingRoutes } as const] : []),
    ...behind.map((peer) => ({ kind: "pending", peer }) as const),
    ...silent.map((peer) => ({ kind: "unknown", peer }) as const),
  ];
}
