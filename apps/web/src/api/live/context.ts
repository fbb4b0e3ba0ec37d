import { createContext, useContext } from "react";
import type { LiveState } from "./keep-subscribed.ts";
import { createNetworkLive, type NetworkLive } from "./network-live.ts";
import { createStore, type SettableStore } from "./store.ts";

/** Live data that outlives a page: the footer shows its state, and charts keep their minutes between pages. */
export type LiveHub = {
  readonly state: SettableStore<LiveState>;
  readonly network: (networkId: string) => NetworkLive;
};

export function createLiveHub(): LiveHub {
  const networks = new Map<string, NetworkLive>();
  return {
    state: createStore<LiveState>({ state: "idle" }),
    network(networkId) {
      const known = networks.get(networkId) ?? createNetworkLive();
      networks.set(networkId, known);
      return known;
    },
  };
}

export const LiveHubContext = createContext<LiveHub | null>(null);

/** The hub of this page; a page outside the provider is a bug. */
export function useLiveHub(): LiveHub {
  const hub = useContext(LiveHubContext);
  if (!hub) throw new Error("no LiveHubContext around this component");
  return hub;
}
