import type { Peer, PeerEvent, PeerSample } from "../types.ts";
import { createSeries, HISTORY_GAP_MS, type Series } from "./series.ts";
import { createStore, type Store } from "./store.ts";

/** What is known about one peer, fed by its subscription. */
export type PeerLive = {
  readonly handle: (event: PeerEvent) => void;
  /** null until the subscription sent it. */
  readonly peer: Store<Peer | null>;
  /** What goes on now; null until the first sample, and again when the node fell silent. */
  readonly sample: Store<PeerSample | null>;
  readonly throughput: Series;
  /** Changes when the chart has something new. */
  readonly revision: Store<number>;
};

export function createPeerLive(): PeerLive {
  const peer = createStore<Peer | null>(null);
  const sample = createStore<PeerSample | null>(null);
  const revision = createStore(0);
  const throughput = createSeries(HISTORY_POINTS);

  /** An old sample says nothing about now. */
  function fadeOut(nowMs: number): void {
    const heardMs = throughput.latest()?.atMs;
    if (heardMs !== undefined && nowMs - heardMs <= HISTORY_GAP_MS) return;
    throughput.silence(nowMs);
    sample.set(null);
    revision.set(revision.get() + 1);
  }

  return {
    peer,
    sample,
    throughput,
    revision,
    handle(event) {
      switch (event.kind) {
        case "history":
          throughput.load(event.points);
          revision.set(revision.get() + 1);
          break;
        case "peer":
          peer.set(event.peer);
          break;
        case "heartbeat":
          fadeOut(event.atMs);
          break;
        case "sample":
          throughput.push(event);
          sample.set(event);
          revision.set(revision.get() + 1);
          break;
      }
    },
  };
}

/** Ten minutes of one-second steps, and a little more for gaps. */
const HISTORY_POINTS = 620;
