import { expect, test } from "vitest";
import { aPeerSample, NOW } from "../../testing/builders.ts";
import { createPeerLive } from "./peer-live.ts";

test("a heartbeat leaves a young sample alone, and ends an old one with a gap, once", () => {
  const live = createPeerLive();
  live.handle(aPeerSample({ atMs: NOW, rxBitsPerSecond: 5 }));

  live.handle({ kind: "heartbeat", atMs: NOW + 10_000 });
  const young = { sample: live.sample.get(), rx: [...live.throughput.columns().rx] };
  live.handle({ kind: "heartbeat", atMs: NOW + 13_000 });
  live.handle({ kind: "heartbeat", atMs: NOW + 14_000 });

  expect(young).toMatchObject({ sample: { rxBitsPerSecond: 5 }, rx: [5] });
  expect(live.sample.get()).toBeNull();
  expect(live.throughput.columns().rx).toEqual([5, null]);
});

test("a sample after a silence goes on behind the gap", () => {
  const live = createPeerLive();
  live.handle(aPeerSample({ atMs: NOW, rxBitsPerSecond: 5 }));
  live.handle({ kind: "heartbeat", atMs: NOW + 13_000 });

  live.handle(aPeerSample({ atMs: NOW + 20_000, rxBitsPerSecond: 7 }));

  expect(live.throughput.columns().rx).toEqual([5, null, 7]);
  expect(live.sample.get()?.rxBitsPerSecond).toBe(7);
});
