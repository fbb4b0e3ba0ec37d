import type { CounterTable, Tunnel, TunnelCounters } from "@weft/dataplane";

import { dropReason, isDropColumn, valueAt } from "./counter-report.ts";
import type { EngineRestarts } from "./engine-restart.ts";

/** The engine's part of `weft status --json`. Counts are since the engine's start. */
export type EngineView = {
  readonly restarts: number;
  readonly lastFailure: { readonly reason: string; readonly at: string } | null;
  /** Dropped packets of the whole engine by reason; zeros are left out. */
  readonly drops: { readonly [reason: string]: number };
  /** All engine-wide counts by name. */
  readonly totals: { readonly [name: string]: number };
  /** System calls per 10^6 bytes of packets between applications and tunnel; `null` before the first byte. */
  readonly syscallsPerMegabyte: number | null;
  readonly stages: readonly StageView[];
};

/** What one stage of one shard did. */
export type StageView = {
  readonly shard: number;
  readonly stage: string;
  readonly batches: number;
  readonly packets: number;
  readonly bytes: number;
  readonly nanoseconds: number;
  /** Achieved batch size on average. */
  readonly packetsPerBatch: number | null;
  /** How many batches had at least so many packets, and fewer than the next class. */
  readonly batchSizes: { readonly [atLeast: string]: number };
};

export function engineView(tunnel: Pick<Tunnel, "counters"> | null, state: EngineRestarts): EngineView {
  const { restarts, lastFailure } = state;
  const counters = tunnel?.counters();
  const totals = counters ? namedValues(counters.totals, 0) : {};
  const drops = Object.entries(totals).flatMap(([name, count]) =>
    isDropColumn(name) && count > 0 ? [[dropReason(name), count] as const] : [],
  );
  return {
    restarts,
    lastFailure: lastFailure && { reason: lastFailure.reason, at: new Date(lastFailure.atMs).toISOString() },
    drops: Object.fromEntries(drops),
    totals,
    syscallsPerMegabyte: counters ? syscallsPerMegabyte(totals, counters) : null,
    stages: counters ? stageViews(counters) : [],
  };
}

/** Names and values of one row. */
function namedValues(table: CounterTable, row: number): { readonly [name: string]: number } {
  if (row >= table.rows) return {};
  return Object.fromEntries(table.columns.map((name, column) => [name, Number(valueAt(table, row, column))]));
}

function syscallsPerMegabyte(totals: { readonly [name: string]: number }, { peers }: TunnelCounters): number | null {
  const calls = CALL_COLUMNS.reduce((sum, name) => sum + (totals[name] ?? 0), 0);
  let bytes = 0;
  for (let row = 0; row < peers.rows; row += 1) {
    for (const name of ["rxBytes", "txBytes"]) bytes += Number(valueAt(peers, row, peers.columns.indexOf(name)));
  }
  return bytes === 0 ? null : round(calls / (bytes / BYTES_PER_MEGABYTE));
}

function stageViews({ shards }: TunnelCounters): StageView[] {
  return Array.from({ length: shards.rows }, (_, row) => {
    const named = namedValues(shards, row);
    const at = (name: string): number => named[name] ?? 0;
    const sizes = Object.entries(named).filter(([name, count]) => name.startsWith(SIZE_PREFIX) && count > 0);
    return {
      shard: at("shard"),
      stage: shards.stageNames[at("stage")] ?? String(at("stage")),
      batches: at("batches"),
      packets: at("packets"),
      bytes: at("bytes"),
      nanoseconds: at("nanoseconds"),
      packetsPerBatch: at("batches") === 0 ? null : round(at("packets") / at("batches")),
      batchSizes: Object.fromEntries(sizes.map(([name, count]) => [name.slice(SIZE_PREFIX.length), count])),
    };
  }).filter(({ batches }) => batches > 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

const CALL_COLUMNS = ["tunReadCalls", "tunWriteCalls", "udpSendCalls", "udpReceiveCalls", "pollCalls"];
const SIZE_PREFIX = "batchesOf";
const BYTES_PER_MEGABYTE = 1_000_000;
