import type { NetworkEvent, Peer } from "../types.ts";
import { createSeries, GAP_MS, type Series, STEP_MS } from "./series.ts";
import { createStore, type Store } from "./store.ts";

/** What is known about the peers of one network, fed by its subscription. */
export type NetworkLive = {
  readonly handle: (event: NetworkEvent) => void;
  /** All peers; null until the first answer. */
  readonly peers: Store<readonly Peer[] | null>;
  /** Counts samples; a change means that rates and totals are new. */
  readonly samples: Store<number>;
  readonly rates: (peerId: string) => PeerRates | null;
  readonly totals: Series;
};

/** The last minute of one peer. */
export type PeerRates = {
  readonly rx: readonly (number | null)[];
  readonly tx: readonly (number | null)[];
  readonly latest: { readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number } | null;
  readonly rxBytes: string;
  readonly txBytes: string;
};

export function createNetworkLive(): NetworkLive {
  const byId = new Map<string, Peer>();
  const peers = createStore<readonly Peer[] | null>(null);
  const samples = createStore(0);
  const totals = createSeries(TOTALS_POINTS);
  const rates = new Map<string, MutableRates>();
  let lastSampleMs: number | null = null;

  function sample(event: Extract<NetworkEvent, { kind: "sample" }>): void {
    const gap = lastSampleMs === null ? 0 : event.atMs - lastSampleMs;
    if (gap > GAP_MS) for (const peer of rates.values()) pushGap(peer, Math.round(gap / STEP_MS) - 1);
    lastSampleMs = event.atMs;

    const seen = new Set<string>();
    for (const row of event.peers) {
      seen.add(row.peerId);
      pushRates(rates, row);
    }
    for (const [peerId, peer] of rates) if (!seen.has(peerId)) pushGap(peer, 1);
    totals.push({ atMs: event.atMs, ...event.totals });
    samples.set(samples.get() + 1);
  }

  return {
    peers,
    samples,
    totals,
    rates: (peerId) => rates.get(peerId) ?? null,
    handle(event) {
      switch (event.kind) {
        case "peers":
          for (const peer of event.peers) byId.set(peer.id, peer);
          peers.set([...byId.values()]);
          break;
        case "peer-removed":
          byId.delete(event.peerId);
          rates.delete(event.peerId);
          peers.set([...byId.values()]);
          break;
        case "sample":
          sample(event);
          break;
      }
    },
  };
}

type MutableRates = {
  rx: (number | null)[];
  tx: (number | null)[];
  latest: PeerRates["latest"];
  rxBytes: string;
  txBytes: string;
};

type SampleRow = Extract<NetworkEvent, { kind: "sample" }>["peers"][number];

function pushRates(rates: Map<string, MutableRates>, row: SampleRow): void {
  const known = rates.get(row.peerId) ?? { rx: [], tx: [], latest: null, rxBytes: "0", txBytes: "0" };
  rates.set(row.peerId, known);
  known.latest = row;
  known.rxBytes = row.rxBytes;
  known.txBytes = row.txBytes;
  append(known, row.rxBitsPerSecond, row.txBitsPerSecond);
}

function pushGap(peer: MutableRates, steps: number): void {
  peer.latest = null;
  for (let step = 0; step < Math.min(steps, SPARK_STEPS); step += 1) append(peer, null, null);
}

function append(peer: MutableRates, rx: number | null, tx: number | null): void {
  peer.rx.push(rx);
  peer.tx.push(tx);
  if (peer.rx.length > SPARK_STEPS) {
    peer.rx.shift();
    peer.tx.shift();
  }
}

/** A sparkline shows the last minute. */
export const SPARK_STEPS = 60;

/** The aggregate chart shows ten minutes. */
const TOTALS_POINTS = 600;
