import { wordsOf } from "../core/flow-row.ts";
import { isEnded, type MemoryFlow } from "./memory-filter.ts";

/** One row of the engine's flow table. */
export function flowRow(position: number, flow: MemoryFlow, nowMs: number): readonly bigint[] {
  const { first, began } = flow;
  const [local, remote] = began === "out" ? [first.source, first.destination] : [first.destination, first.source];
  const { source = 0, destination = 0 } = first.ports ?? {};
  const [localPort, remotePort] = began === "out" ? [source, destination] : [destination, source];
  const allowed = [...flow.ways.values()][0]?.rule;
  const rule = allowed ?? flow.deniedBy;
  return [
    BigInt(position),
    BigInt(flow.slot),
    local.length === 4 ? 4n : 6n,
    BigInt(first.protocol),
    ...wordsOf(local),
    ...wordsOf(remote),
    first.ports ? 1n : first.icmp ? 2n : 0n,
    BigInt(first.icmp?.type ?? localPort),
    BigInt(remotePort),
    began === "out" ? 1n : 0n,
    allowed ? 1n : 0n,
    rule ? BigInt(rule.id) + 1n : 0n,
    flow.packets.in,
    flow.bytes.in,
    flow.packets.out,
    flow.bytes.out,
    flow.drops,
    BigInt(nowMs - flow.startedAtMs),
    BigInt(nowMs - flow.lastAtMs),
    flow.id,
    isEnded(flow, nowMs) ? 1n : 0n,
  ];
}

/** Fills rows from a position on. */
export function writeFlows(rows: readonly (readonly bigint[])[], from: bigint, into: BigUint64Array): number {
  const width = rows[0]?.length ?? 1;
  const fitting = rows.slice(Number(from)).slice(0, Math.floor(into.length / width));
  for (const [index, row] of fitting.entries()) into.set(row, index * width);
  return fitting.length;
}
