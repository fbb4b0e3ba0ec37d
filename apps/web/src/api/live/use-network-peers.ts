import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../context.ts";
import { statusOf, toProblem } from "../error-text.ts";
import { useNetworkLive, useStore } from "./use-live.ts";
import type { NetworkLive } from "./network-live.ts";
import type { Peer } from "../types.ts";
import type { Problem } from "../../ui/panels.tsx";

/** The peers of a network: one list at first, then whatever the subscription says. */
export type NetworkPeers =
  | { readonly state: "loading"; readonly live: NetworkLive }
  | { readonly state: "failed"; readonly live: NetworkLive; readonly problem: Problem; readonly retry: () => void }
  | {
      readonly state: "ready";
      readonly live: NetworkLive;
      readonly peers: readonly Peer[];
      readonly stale: StaleRows | null;
    };

/** A refresh failed; the rows are what was known before. */
export type StaleRows = { readonly retry: () => void };

export function useNetworkPeers(networkId: string): NetworkPeers {
  const trpc = useTRPC();
  const network = useQuery(trpc.networks.get.queryOptions({ networkId }));
  const isGone = statusOf(network.error) === 404;
  const live = useNetworkLive(networkId, isGone ? "gone" : "there");
  const pushed = useStore(live.peers);
  const list = useQuery({ ...trpc.peers.list.queryOptions({ networkId, limit: 500 }), enabled: pushed === null });
  const retry = (): void => void list.refetch();
  if (isGone) {
    return { state: "failed", live, problem: toProblem(network.error), retry: () => void network.refetch() };
  }

  const peers = pushed ?? list.data?.items;
  if (peers) return { state: "ready", live, peers, stale: pushed === null && list.isError ? { retry } : null };
  if (list.error) return { state: "failed", live, problem: toProblem(list.error), retry };
  return { state: "loading", live };
}
