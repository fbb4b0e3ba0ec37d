import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

import type { PeerId } from "@weft/protocol";

import type { Fleet } from "../fleet/fleet.ts";
import type { LightAgent } from "../fleet/light-agent.ts";
import type { MeasuredServer } from "../fleet/measured-server.ts";
import type { RowCollector } from "../row-collector.ts";
import { median } from "../statistics.ts";
import type { SuiteContext } from "./suite-run.ts";

/** What cases of the suite work with. */
export type ControlScene = SuiteContext & {
  readonly rows: RowCollector;
  readonly problem: (text: string) => void;
};

/** Waits until so many nodes confirmed a map that names the peer; resolves with the moment of the last one. */
export async function untilLearned(
  fleet: Fleet,
  { id, count }: { readonly id: PeerId; readonly count: number },
): Promise<number> {
  await until(`${String(count)} nodes to learn of a change`, () => fleet.learned(id).count >= count);
  return fleet.learned(id).lastMs;
}

/** Waits until nothing has come for a moment: whatever was under way has arrived. */
export async function untilQuiet(agents: readonly LightAgent[]): Promise<void> {
  for (let before = -1; ;) {
    const now = bytesOf(agents);
    if (now === before) return;
    before = now;
    await pause(QUIET_MS);
  }
}

export async function until(what: string, holds: () => boolean, withinMs = WAIT_MS): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited ${String(withinMs)} ms for ${what}`);
    await pause(2);
  }
}

export function bytesOf(agents: readonly LightAgent[]): number {
  return agents.reduce((sum, agent) => sum + agent.receivedBytes(), 0);
}

/** CPU milliseconds of server and database together. */
export function bothCpuMs(server: MeasuredServer): number {
  const { server: own, database } = server.cpuMs();
  return own + database;
}

/**
 * What one change costs the server that two members of a small group notice, in milliseconds of CPU: renames one after
 * the other, each when the one before has arrived, less what the server does anyway.
 */
export async function costOfChange(
  server: MeasuredServer,
  { fleet, small }: { readonly fleet: Fleet; readonly small: readonly LightAgent[] },
): Promise<{ readonly value: number; readonly extra: Readonly<Record<string, number>> }> {
  const [first] = small;
  if (!first) throw new Error("a small group has members");
  const latencies: number[] = [];
  const run = async () => {
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const count = fleet.learned(first.peerId).count + small.length - 1;
      const beganMs = performance.now();
      made += 1;
      await server.owner.client.patch(`/peers/${first.peerId}`, { name: `renamed-${String(made)}` });
      latencies.push((await untilLearned(fleet, { id: first.peerId, count })) - beganMs);
      await pause(SETTLE_MS);
    }
  };
  const [idleMs, seconds] = [bothCpuMs(server), BASELINE_SECONDS];
  await pause(seconds * 1_000);
  const perMs = (bothCpuMs(server) - idleMs) / (seconds * 1_000);
  const [beforeMs, beganMs] = [bothCpuMs(server), performance.now()];
  await run();
  const spentMs = bothCpuMs(server) - beforeMs - perMs * (performance.now() - beganMs);
  return { value: Math.max(0, spentMs) / CHANGES, extra: { arrivedMs: median(latencies) } };
}

/** The ids of a network's peers by presence. */
export function countOffline(answer: unknown): number {
  return PeersPage.parse(answer).items.filter(({ presence }) => presence === "offline").length;
}

const PeersPage = z.object({ items: z.array(z.object({ presence: z.string() })), total: z.number().optional() });
export const CONTENDER = "weft";
const QUIET_MS = 400;
const WAIT_MS = 60_000;
const CHANGES = 20;
const SETTLE_MS = 220;
const BASELINE_SECONDS = 4;
let made = 0;
