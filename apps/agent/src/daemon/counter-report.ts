import type { CounterTable, PeerState, TunnelCounters } from "@weft/dataplane";
import type {
  CountersReport,
  DropColumn,
  MapPeer,
  NamedCounter,
  PeerCounterColumns,
  PublicKey,
  RuleCounters,
  StageCounters,
} from "@weft/protocol";

import type { PeerActivity } from "./choose-peers.ts";

/** One peer of a counter snapshot: its row in the table and its entry in the map. */
export type CountedPeer = { readonly row: number; readonly peer: MapPeer };

/** Facts of the process beside the engine's counters. */
export type ProcessFacts = Pick<CountersReport, "counterEpoch" | "uptimeMs" | "cpuMicroseconds" | "rssBytes">;

/** How active each known peer has been; peers that the map no longer has are left out. */
export function activities(
  counters: TunnelCounters,
  peerByKey: (key: PublicKey) => MapPeer | null,
): PeerActivity<PublicKey>[] {
  const { peers } = counters;
  const columns = peers.columns.flatMap((name, column) => (isActivityColumn(name) ? [column] : []));
  return peers.publicKeys.flatMap((key, row) => {
    if (key === undefined || !peerByKey(key)) return [];
    let total = 0n;
    for (const column of columns) total += valueAt(peers, row, column);
    return [{ key, total }];
  });
}

/** Builds the report of the chosen peers. */
export function counterReport(
  counters: TunnelCounters,
  chosen: readonly CountedPeer[],
  facts: ProcessFacts & {
    readonly peerState: (key: PublicKey) => PeerState | null;
    readonly wallClockMs: number;
    /** What met rules since the report before. */
    readonly rules?: readonly RuleCounters[];
  },
): CountersReport {
  const { counterEpoch, uptimeMs, cpuMicroseconds, rssBytes } = facts;
  return {
    counterEpoch,
    uptimeMs,
    cpuMicroseconds,
    rssBytes,
    peers: peerColumns(counters, chosen, facts),
    stages: stageRows(counters),
    totals: [...tableTotals(counters.totals), ...handshakeTotals(counters)],
    rules: facts.rules ?? [],
  };
}

function peerColumns(
  counters: TunnelCounters,
  chosen: readonly CountedPeer[],
  facts: { readonly peerState: (key: PublicKey) => PeerState | null; readonly wallClockMs: number },
): PeerCounterColumns {
  const table = counters.peers;
  const columnOf = (name: string): bigint[] => {
    const column = table.columns.indexOf(name);
    return chosen.map(({ row }) => (column < 0 ? 0n : valueAt(table, row, column)));
  };
  const states = chosen.map(({ peer }) => facts.peerState(peer.publicKey));
  return {
    peerIds: chosen.map(({ peer }) => peer.id),
    rxBytes: columnOf("rxBytes"),
    rxPackets: columnOf("rxPackets"),
    txBytes: columnOf("txBytes"),
    txPackets: columnOf("txPackets"),
    drops: dropColumns(table, columnOf),
    lastHandshakeAgeMs: states.map((state) => handshakeAgeMs(state, facts.wallClockMs)),
    lastReceivedAgeMs: columnOf("lastReceivedAgeMs").map(ageOrNull),
    sessionAgeMs: columnOf("sessionAgeMs").map(ageOrNull),
    endpoints: states.map((state) => state?.endpoint ?? null),
  };
}

function dropColumns(table: CounterTable, columnOf: (name: string) => bigint[]): DropColumn[] {
  return table.columns.flatMap((name) => {
    if (!DROP_COLUMN.test(name)) return [];
    const counts = columnOf(name);
    return counts.some((count) => count > 0n) ? [{ reason: dropReason(name), counts }] : [];
  });
}

function stageRows({ shards }: TunnelCounters): StageCounters[] {
  const at = (row: number, name: string): bigint => {
    const column = shards.columns.indexOf(name);
    return column < 0 ? 0n : valueAt(shards, row, column);
  };
  return Array.from({ length: shards.rows }, (_, row) => ({
    shard: Number(at(row, "shard")),
    stage: shards.stageNames[Number(at(row, "stage"))] ?? "unknown",
    batches: at(row, "batches"),
    packets: at(row, "packets"),
    bytes: at(row, "bytes"),
    nanoseconds: at(row, "nanoseconds"),
  })).filter((row) => row.batches > 0n);
}

function tableTotals(table: CounterTable): NamedCounter[] {
  return table.columns.map((name, column) => ({ name, value: valueAt(table, 0, column) }));
}

function handshakeTotals({ handshakes }: TunnelCounters): NamedCounter[] {
  return Object.entries(handshakes).map(([name, value]) => ({
    name: `handshake${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    value: BigInt(value),
  }));
}

/** Age of the last handshake; `null` before the first one, never negative when the wall clock jumps. */
export function handshakeAgeMs(state: PeerState | null, wallClockMs: number): number | null {
  if (!state || state.lastHandshakeAtMs === null) return null;
  return Math.max(0, Math.floor(wallClockMs - state.lastHandshakeAtMs));
}

/** A value of a counter table. */
export function valueAt(table: CounterTable, row: number, column: number): bigint {
  return table.values[row * table.columns.length + column] ?? 0n;
}

/** `dropBadTag` → `badTag`. */
export function dropReason(column: string): string {
  const name = column.replace(/^(rx|tx)?[dD]rop/, "");
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The engine writes 2^64 - 1 for "never". */
export function ageOrNull(age: bigint): number | null {
  return age === NEVER ? null : Number(age);
}

export function isDropColumn(name: string): boolean {
  return DROP_COLUMN.test(name);
}

function isActivityColumn(name: string): boolean {
  return name === "rxPackets" || name === "txPackets" || DROP_COLUMN.test(name);
}

const DROP_COLUMN = /^(rx|tx)?[dD]rop[A-Z]/;
const NEVER = 2n ** 64n - 1n;
