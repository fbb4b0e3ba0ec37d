import type { NetworkEvent, Peer } from "../types.ts";
import { createSeries, GAP_MS, type Series, STEP_MS } from "./series.ts";
import { createStore, type Store } from "./store.ts";

/** What is known about the peers of one network, fed by its subscription. */
export type NetworkLive = {
  /** A subscription starts: it will name every peer again, in one event or several, before its first sample. */
  readonly opened: () => void;
  readonly handle: (event: NetworkEvent) => void;
  /** All peers; null until the first answer. */
  readonly peers: Store<readonly Peer[] | null>;
  /** Counts samples; a change means that rates and totals are new. */
  readonly samples: Store<number>;
  readonly rates: (peerId: string) => PeerRates | null;
  readonly totals: Series;
  /** Changes when `totals` has something new. */
  readonly revision: Store<number>;
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
  const revision = createStore(0);
  const totals = createSeries(TOTALS_POINTS);
  const rates = new Map<string, MutableRates>();
  const unconfirmed = new Set<string>();
  let lastSampleMs: number | null = null;

  const publish = (): void => peers.set([...byId.values()]);
  const forget = (peerId: string): void => {
    byId.delete(peerId);
    rates.delete(peerId);
  };

  /** Peers that went away while nobody listened were not named again. */
  function forgetUnconfirmed(): void {
    if (unconfirmed.size === 0 && peers.get() !== null) return;
    for (const peerId of unconfirmed) forget(peerId);
    unconfirmed.clear();
    publish();
  }

  function sample(event: SampleEvent): void {
    forgetUnconfirmed();
    const gapMs = lastSampleMs === null ? 0 : event.atMs - lastSampleMs;
    if (gapMs > GAP_MS) for (const peer of rates.values()) pushGap(peer, Math.round(gapMs / STEP_MS) - 1);
    lastSampleMs = event.atMs;
    pushSample(rates, byId, event);
    totals.push({ atMs: event.atMs, ...event.totals });
    samples.set(samples.get() + 1);
    revision.set(revision.get() + 1);
  }

  return {
    peers,
    samples,
    totals,
    revision,
    rates: (peerId) => rates.get(peerId) ?? null,
    opened() {
      for (const peerId of byId.keys()) unconfirmed.add(peerId);
    },
    handle(event) {
      switch (event.kind) {
        case "history":
          totals.load(event.points);
          revision.set(revision.get() + 1);
          break;
        case "peers":
          for (const peer of event.peers) {
            byId.set(peer.id, peer);
            unconfirmed.delete(peer.id);
          }
          publish();
          break;
        case "peer-removed":
          forget(event.peerId);
          publish();
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

type SampleEvent = Extract<NetworkEvent, { kind: "sample" }>;

/** A sample names only peers that moved something: silence of one that is online is zero, of any other it is a gap. */
function pushSample(rates: Map<string, MutableRates>, peers: ReadonlyMap<string, Peer>, event: SampleEvent): void {
  const rows = new Map(event.peers.map((row) => [row.peerId, row]));
  for (const peer of peers.values()) {
    const row = rows.get(peer.id);
    const known = rates.get(peer.id) ?? { rx: [], tx: [], latest: null, rxBytes: peer.rxBytes, txBytes: peer.txBytes };
    if (row || peer.presence === "online") {
      rates.set(peer.id, known);
      known.latest = row ?? STILL;
      known.rxBytes = row?.rxBytes ?? known.rxBytes;
      known.txBytes = row?.txBytes ?? known.txBytes;
      append(known, known.latest.rxBitsPerSecond, known.latest.txBitsPerSecond);
    } else if (rates.has(peer.id)) {
      pushGap(known, 1);
    }
  }
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

const STILL = { rxBitsPerSecond: 0, txBitsPerSecond: 0 };

/** A sparkline shows the last minute. */
export const SPARK_STEPS = 60;

/** The aggregate chart shows ten minutes. */
const TOTALS_POINTS = 600;
