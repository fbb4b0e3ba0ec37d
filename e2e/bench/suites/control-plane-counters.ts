import { setTimeout as pause } from "node:timers/promises";

import { COUNTER_PEERS_MAX, type CountersReport, type PeerId } from "@weft/protocol";

import type { Fleet } from "../fleet/fleet.ts";
import type { LightAgent } from "../fleet/light-agent.ts";
import type { MeasuredServer } from "../fleet/measured-server.ts";
import { percentile } from "../statistics.ts";
import { bothCpuMs } from "./control-plane-kit.ts";

/** Every node reports twenty peers every second, while somebody looks at the page of one of them. */
export async function measureCounters(server: MeasuredServer, fleet: Fleet, seconds: number) {
  const reporters = fleet.agents().map((agent, place) => ({ agent, peers: someOf(agent.map.peerIds(), place) }));
  const watched = reporters[0];
  if (!watched) throw new Error("a fleet has agents");
  const sentMs = new Map<string, number>();
  const delays: number[] = [];
  const end = new AbortController();
  const watching = server.owner.client
    .subscribe({ procedure: "live.peer", input: { peerId: watched.agent.peerId }, onEvent: note }, end.signal)
    .catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
  function note(json: string): void {
    for (const [mark, beganMs] of sentMs) {
      if (!json.includes(mark)) continue;
      delays.push(performance.now() - beganMs);
      sentMs.delete(mark);
    }
  }
  await second(0);
  const beforeMs = bothCpuMs(server);
  for (let tick = 1; tick <= seconds; tick += 1) await second(tick);
  const value = (bothCpuMs(server) - beforeMs) / (seconds * 1_000);
  end.abort();
  await watching;
  if (delays.length === 0) throw new Error("no counter reached the page");
  return {
    value,
    extra: { toPageP95Ms: percentile(delays, 0.95), seen: delays.length, memoryMb: server.memoryMb().server },
  };

  /** A second in which everybody reports once, spread over it. */
  async function second(tick: number): Promise<void> {
    const beganMs = performance.now();
    for (let part = 0; part < PARTS; part += 1) {
      for (const [place, { agent, peers }] of reporters.entries()) {
        if (place % PARTS !== part) continue;
        const mark = BASE + BigInt(tick) * STEP;
        if (place === 0) sentMs.set(String(mark), performance.now());
        report(agent, peers, { mark, tick });
      }
      const leftMs = beganMs + ((part + 1) * 1_000) / PARTS - performance.now();
      if (leftMs > 0) await pause(leftMs);
    }
  }
}

function report(
  agent: LightAgent,
  peers: readonly PeerId[],
  at: { readonly mark: bigint; readonly tick: number },
): void {
  const each = <T>(value: T): T[] => peers.map(() => value);
  const counters: CountersReport = {
    counterEpoch: 1n,
    uptimeMs: 60_000 + at.tick * 1_000,
    peers: {
      peerIds: peers,
      rxBytes: each(at.mark),
      rxPackets: each(at.mark / 1_000n),
      txBytes: each(at.mark / 2n),
      txPackets: each(at.mark / 2_000n),
      drops: [],
      lastHandshakeAgeMs: each(10_000),
      lastReceivedAgeMs: each(100),
      sessionAgeMs: each(60_000),
      endpoints: each(null),
    },
    stages: ["tun-read", "seal", "udp-send", "udp-receive", "open", "tun-write"].map((stage) => ({
      shard: 0,
      stage,
      batches: at.mark / 64_000n,
      packets: at.mark / 1_000n,
      bytes: at.mark,
      nanoseconds: at.mark,
    })),
    totals: [],
    cpuMicroseconds: BigInt(at.tick) * 10_000n,
    rssBytes: 80_000_000,
  };
  agent.send({ kind: "counters", counters });
}

/** Twenty peers of a node, others for each node. */
function someOf(ids: ReadonlySet<PeerId>, place: number): readonly PeerId[] {
  const all = [...ids];
  return Array.from(
    { length: Math.min(COUNTER_PEERS_MAX, all.length) },
    (_, at) => all[(place * 7 + at * 13) % all.length],
  ).flatMap((id, at, list) => (id !== undefined && list.indexOf(id) === at ? [id] : []));
}

const PARTS = 20;
/** Marks are told apart by their digits. */
const BASE = 7_123_000_000_001n;
const STEP = 1_000_000n;
