import { iperfTcp } from "../load/iperf.ts";
import { provideFlood } from "../load/flood.ts";
import type { HostileKind } from "../load/hostile-datagrams.ts";
import { setHostileScene, type FloodOutcome, type HostileScene } from "../hostile-scene.ts";
import type { RoundSample } from "../ratios.ts";
import { createRowCollector } from "../row-collector.ts";
import type { SuiteBody, SuiteContext } from "./suite-run.ts";

/** Names of all cases of the suite. */
export const HOSTILE_CASES = ["tcp-undisturbed", "tcp-under-garbage", "memory-under-garbage", "drops-counted"];

/** Throughput of a friend while a stranger floods, memory, and whether every dropped datagram was counted. */
export async function runHostileSuite({ options, progress }: SuiteContext): Promise<SuiteBody> {
  const settings = { rounds: options.rounds, seconds: options.seconds, garbagePerSecond: GARBAGE_PER_SECOND };
  const provided = await provideFlood();
  if ("reason" in provided)
    return { settings, cases: [], skipped: [{ contender: "weft", reason: provided.reason }], problems: [] };
  const scene = await setHostileScene();
  const collector = createRowCollector(progress);
  const note = (name: string, sample: RoundSample): void =>
    collector.add({ name, unit: UNITS[name] ?? "", contender: "weft" }, sample);
  const problems: string[] = [];
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      note("tcp-undisturbed", { round, value: await throughput(scene, options.seconds), extra: {} });
      const hostile = await underFlood(scene, options.seconds);
      note("tcp-under-garbage", { round, value: hostile.gbit, extra: { perSecond: hostile.perSecond } });
      note("memory-under-garbage", { round, value: hostile.outcome.rssGrowthMb, extra: {} });
      const counted = await scene.flood({ kinds: ALL_KINDS, perSecond: COUNTED_PER_SECOND, seconds: 2 });
      note("drops-counted", { round, value: countedShare(counted), extra: counted.drops });
      if (hostile.perSecond < GARBAGE_PER_SECOND * 0.9)
        problems.push(`only ${hostile.perSecond.toFixed(0)} hostile datagrams a second left`);
      if (!scene.daemon.program.isRunning()) problems.push("the target's data plane ended");
    }
  } finally {
    await scene.lab.dispose();
  }
  return { settings, cases: collector.rows(), skipped: [], problems };
}

/** The share of the datagrams sent that shows in some counter, the kernel's included; 1 when none vanished. */
export function countedShare({
  sent,
  drops,
  droppedByKernel,
}: Pick<FloodOutcome, "sent" | "drops" | "droppedByKernel">) {
  const dropped = Object.values(drops).reduce((sum, value) => sum + value, 0);
  return (dropped + droppedByKernel) / sent;
}

async function underFlood(scene: HostileScene, seconds: number) {
  let gbit = 0;
  const outcome = await scene.flood({
    kinds: ALL_KINDS,
    perSecond: GARBAGE_PER_SECOND,
    seconds: seconds + FLOOD_AROUND_SECONDS,
    during: async () => {
      gbit = await throughput(scene, seconds);
    },
  });
  return { gbit, outcome, perSecond: outcome.sent / outcome.seconds };
}

async function throughput({ friend, address }: HostileScene, seconds: number): Promise<number> {
  return (await iperfTcp({ from: friend, to: address, seconds })).bitsPerSecond / 1e9;
}

export const ALL_KINDS: readonly HostileKind[] = [
  "garbage",
  "truncated",
  "wrong receiver",
  "forged initiation",
  "replay",
  "altered",
];
const UNITS: Readonly<Record<string, string>> = {
  "tcp-undisturbed": "Gbit/s",
  "tcp-under-garbage": "Gbit/s",
  "memory-under-garbage": "MB more",
  "drops-counted": "of 1",
};
const GARBAGE_PER_SECOND = 200_000;
/** Slow enough that no socket overflows: then each datagram must show in a counter of ours. */
const COUNTED_PER_SECOND = 5_000;
const FLOOD_AROUND_SECONDS = 2;
