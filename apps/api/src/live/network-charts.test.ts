import { networkIds } from "@weft/protocol";
import { expect, test } from "vitest";
import type { Feed } from "./feed.ts";
import { createNetworkCharts } from "./network-charts.ts";
import type { ChartedNetwork } from "./network-charts.ts";
import type { NetworkEvent } from "../registry/live-events.ts";

test("a network that nobody watches is charted every five seconds, a watched one every second, for ten minutes", () => {
  let nowMs = 0;
  const quiet = networkIds.make(() => new Uint8Array(16).fill(1));
  const looked = networkIds.make(() => new Uint8Array(16).fill(2));
  const heard: NetworkEvent[] = [];
  const feed: Feed<NetworkEvent> = { push: (event) => void heard.push(event), end: () => undefined, events: nothing() };
  const hubs = new Map([quiet, looked].map((id) => [id, emptyHub(id)]));
  const charts = createNetworkCharts({
    networks: hubs,
    subscribers: { ofNetwork: (id) => (id === looked ? [feed] : []) },
    traffic: { find: () => undefined },
    clock: { nowMs: () => nowMs },
  });
  const historyOf = (id: typeof quiet) => charts.history(hubs.get(id) ?? emptyHub(id));

  for (nowMs = 1_000; nowMs < 660_000; nowMs += 1_000) charts.step();

  expect(historyOf(quiet).length).toBe(120);
  expect(historyOf(quiet).at(-1)?.atMs).toBe(655_000);
  expect(historyOf(looked).length).toBe(600);
  expect(heard).toHaveLength(659);
});

function emptyHub(id: ChartedNetwork["id"]): ChartedNetwork {
  return { id, mirror: { peers: () => new Map() } };
}

async function* nothing(): AsyncGenerator<NetworkEvent> {}
