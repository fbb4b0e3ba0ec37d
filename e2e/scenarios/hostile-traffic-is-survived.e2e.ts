import { afterEach, beforeAll, expect, test } from "vitest";

import { setHostileScene } from "../bench/hostile-scene.ts";
import { FLOOD_BUILD_MS, provideFlood } from "../bench/load/flood.ts";
import { ALL_KINDS, countedShare } from "../bench/suites/hostile.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { findProgram, whyNoNamespaces } from "../harness/tools.ts";
import { transferBytes } from "../harness/traffic.ts";
import { whyNoDataplane } from "../interop/weft-peer.ts";

let whyNot: string | undefined;
// A build from nothing takes longer than a test may.
beforeAll(async () => {
  whyNot = whyNoNamespaces(["tcpdump", "iperf3"]) ?? whyNoDataplane() ?? (await whyNoFlood());
}, FLOOD_BUILD_MS);
afterEach(cleanUpNow);

test("a stranger's datagrams of every kind are dropped and counted, and a friend's bytes stay whole", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const scene = await setHostileScene();
  for (const kind of ALL_KINDS) {
    const outcome = await scene.flood({ kinds: [kind], perSecond: 2_000, seconds: 1 });

    expect({ kind, counted: countedShare(outcome).toFixed(2) }).toEqual({ kind, counted: "1.00" });
  }
  const road = { from: scene.friend, to: scene.target, address: scene.address };
  let transfer: Promise<{ identical: boolean }> | undefined;
  const storm = await scene.flood({
    kinds: ALL_KINDS,
    perSecond: 50_000,
    seconds: 8,
    during: async () => {
      transfer = transferBytes(road, 30_000_000);
      await transfer;
    },
  });

  expect(await transfer).toMatchObject({ identical: true });
  expect(storm.sent).toBeGreaterThan(100_000);
  expect(storm.rssGrowthMb).toBeLessThan(32);
  expect(scene.daemon.program.isRunning()).toBe(true);
});

async function whyNoFlood(): Promise<string | undefined> {
  if (findProgram("cargo") === undefined) return "cargo is not there to build the sender of floods";
  const provided = await provideFlood();
  return "reason" in provided ? provided.reason : undefined;
}
