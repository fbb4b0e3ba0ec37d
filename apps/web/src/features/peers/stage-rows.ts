import type { StageSample } from "../../api/types.ts";

/** The way a packet takes. */
export type Lane = "outbound" | "inbound";

/** One stage with its share of time on every core. */
export type StageRow = {
  readonly stage: StageName;
  readonly cores: readonly { readonly shard: number; readonly share: number }[];
  /** Sum over the cores; 1 is one whole core. */
  readonly share: number;
  readonly packetsPerBatch: number | null;
  readonly nanosecondsPerPacket: number | null;
};

const LANES = {
  outbound: ["tunRead", "split", "seal", "conceal", "udpSend"],
  inbound: ["udpReceive", "open", "filter", "merge", "tunWrite"],
} as const;
export type StageName = (typeof LANES)[Lane][number];

/** Arranges the per-second rates of all stages along the packet's road; stages the agent does not report are left out. */
export function stageRows(samples: readonly StageSample[], lane: Lane): readonly StageRow[] {
  return LANES[lane].flatMap((stage) => {
    const parts = samples.filter((sample) => sample.stage === stage);
    return parts.length === 0 ? [] : [stageRow(stage, parts)];
  });
}

function stageRow(stage: StageName, parts: readonly StageSample[]): StageRow {
  const sum = (value: (sample: StageSample) => number): number => parts.reduce((total, part) => total + value(part), 0);
  const packets = sum((part) => part.packets);
  const batches = sum((part) => part.batches);
  const nanoseconds = sum((part) => part.nanoseconds);
  return {
    stage,
    cores: parts
      .map((part) => ({ shard: part.shard, share: part.nanoseconds / NANOSECONDS_PER_SECOND }))
      .toSorted((a, b) => a.shard - b.shard),
    share: nanoseconds / NANOSECONDS_PER_SECOND,
    packetsPerBatch: batches > 0 ? packets / batches : null,
    nanosecondsPerPacket: packets > 0 ? nanoseconds / packets : null,
  };
}

const NANOSECONDS_PER_SECOND = 1e9;
