import { expect, test } from "vitest";
import { aPeer } from "../../testing/builders.ts";
import type { NetworkEvent } from "../types.ts";
import { createNetworkLive, SPARK_STEPS } from "./network-live.ts";

type SampleRow = Extract<NetworkEvent, { kind: "sample" }>["peers"][number];

const row = (peerId: string, rx: number): SampleRow => ({
  peerId,
  rxBitsPerSecond: rx,
  txBitsPerSecond: 1,
  rxBytes: "5",
  txBytes: "6",
});

function sample(second: number, peers: SampleRow[] = []): NetworkEvent {
  const rx = peers.reduce((sum, peer) => sum + peer.rxBitsPerSecond, 0);
  return { kind: "sample", atMs: second * 1_000, peers, totals: { rxBitsPerSecond: rx, txBitsPerSecond: 0 } };
}

test("knows nothing until the first answer, and an empty network is an answer", () => {
  const live = createNetworkLive();

  expect(live.peers.get()).toBeNull();
  live.handle({ kind: "peers", peers: [] });
  expect(live.peers.get()).toEqual([]);
});

test("a changed peer replaces its old self and a removed one goes", () => {
  const live = createNetworkLive();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" }), aPeer({ name: "b" })] });

  live.handle({ kind: "peers", peers: [aPeer({ name: "a", presence: "offline" })] });
  live.handle({ kind: "peer-removed", peerId: "peer_b" });

  expect(live.peers.get()?.map((peer) => [peer.name, peer.presence])).toEqual([["a", "offline"]]);
});

test("a peer that is not in a sample sent nothing when it is online, and is unknown when it is not", () => {
  const live = createNetworkLive();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" }), aPeer({ name: "b" })] });
  live.handle(sample(1, [row("peer_a", 10), row("peer_b", 20)]));
  live.handle({ kind: "peers", peers: [aPeer({ name: "b", presence: "offline" })] });

  live.handle(sample(2));

  expect(live.rates("peer_a")?.rx).toEqual([10, 0]);
  expect(live.rates("peer_b")?.rx).toEqual([20, null]);
  expect(live.rates("peer_b")?.latest).toBeNull();
});

test("UI-12 seconds without a sample are gaps of the same length", () => {
  const live = createNetworkLive();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" })] });

  live.handle(sample(1, [row("peer_a", 10)]));
  live.handle(sample(5, [row("peer_a", 20)]));

  expect(live.rates("peer_a")?.rx).toEqual([10, null, null, null, 20]);
});

test("a sparkline holds one minute", () => {
  const live = createNetworkLive();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" })] });

  for (let second = 0; second < 90; second += 1) live.handle(sample(second, [row("peer_a", second)]));

  expect(live.rates("peer_a")?.rx).toHaveLength(SPARK_STEPS);
  expect(live.rates("peer_a")?.rx.at(-1)).toBe(89);
});

test("after a reconnection, peers that were not named again are gone at the first sample", () => {
  const live = createNetworkLive();
  live.opened();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" }), aPeer({ name: "b" })] });
  live.handle(sample(1));

  live.opened();
  live.handle({ kind: "peers", peers: [aPeer({ name: "a" })] });
  expect(live.peers.get()).toHaveLength(2);
  live.handle(sample(9));

  expect(live.peers.get()?.map((peer) => peer.name)).toEqual(["a"]);
});

test("every sample counts, so that rows know when to draw", () => {
  const live = createNetworkLive();
  let heard = 0;
  live.samples.subscribe(() => (heard += 1));

  live.handle(sample(1));
  live.handle(sample(2));

  expect(heard).toBe(2);
});

test("the history of the network is in the totals before the first sample, and samples go on from it", () => {
  const live = createNetworkLive();
  let heard = 0;
  live.revision.subscribe(() => (heard += 1));

  live.handle({
    kind: "history",
    points: [10, 15].map((second) => ({ atMs: second * 1_000, rxBitsPerSecond: second, txBitsPerSecond: 1 })),
  });
  const known = heard;
  live.handle(sample(16, [row("peer_a", 16)]));

  expect(known).toBe(1);
  expect(live.totals.columns().rx).toEqual([10, 15, 16]);
  expect(live.samples.get()).toBe(1);
});
