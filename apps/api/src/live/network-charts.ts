import type { NetworkId, PeerId } from "@weft/protocol";
import { createRateHistory } from "../domain/rate-history.ts";
import type { RateHistory, RatePoint } from "../domain/rate-history.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { networkSample } from "./live-views.ts";
import type { NetworkMirror } from "./network-mirror.ts";
import type { Subscribers } from "./subscribers.ts";
import type { TrafficBook } from "./traffic-book.ts";

/** What a chart needs of a network: its peers. */
export type ChartedNetwork = { readonly id: NetworkId; readonly mirror: Pick<NetworkMirror, "peers"> };

/** What whole networks move, step by step, with the last ten minutes of it. */
export type NetworkCharts = {
  readonly history: (hub: ChartedNetwork) => readonly RatePoint[];
  /** Takes a step of every network; who watches one hears of it. Called once a second. */
  readonly step: () => void;
};

export function createNetworkCharts(deps: {
  readonly networks: ReadonlyMap<NetworkId, ChartedNetwork>;
  readonly subscribers: Pick<Subscribers, "ofNetwork">;
  readonly traffic: Pick<TrafficBook, "find">;
  readonly clock: WallClock;
}): NetworkCharts {
  // A network that is gone takes its chart along.
  const charts = new WeakMap<ChartedNetwork, Chart>();
  let steps = 0;
  const chartOf = (hub: ChartedNetwork): Chart => {
    const chart = charts.get(hub) ?? { history: createRateHistory(), moving: new Set() };
    charts.set(hub, chart);
    return chart;
  };
  return {
    history: (hub) => chartOf(hub).history.points(deps.clock.nowMs()),
    step() {
      const nowMs = deps.clock.nowMs();
      steps += 1;
      for (const hub of deps.networks.values()) {
        const feeds = deps.subscribers.ofNetwork(hub.id);
        // Nodes report every ten seconds while nobody looks; finer steps would say nothing more.
        if (feeds.length === 0 && steps % COARSE_STEPS !== 0) continue;
        const chart = chartOf(hub);
        const sample = networkSample(hub, deps.traffic, { nowMs, wereMoving: chart.moving });
        chart.history.push({ atMs: nowMs, ...sample.totals });
        for (const feed of feeds) feed.push(sample);
      }
    },
  };
}

type Chart = {
  readonly history: RateHistory;
  /** Nodes that moved something in the last step. */
  readonly moving: Set<PeerId>;
};

const COARSE_STEPS = 5;
