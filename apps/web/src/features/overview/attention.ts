import type { Peer } from "../../api/types.ts";
import { clockProblem } from "../../format/clock.ts";

/** Something an operator should look at, worst first. */
export type Attention =
  | { readonly kind: "no-rule" }
  | { readonly kind: "offline" | "pending" | "unknown"; readonly peer: Peer }
  | { readonly kind: "problem"; readonly peer: Peer; readonly problem: string };

/** Finds what deserves a look: no rule at all, then peers that are gone, in trouble, behind or silent. */
export function attention(peers: readonly Peer[], rules: "some" | "none" | "unknown"): readonly Attention[] {
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
    ...behind.map((peer) => ({ kind: "pending", peer }) as const),
    ...silent.map((peer) => ({ kind: "unknown", peer }) as const),
  ];
}
