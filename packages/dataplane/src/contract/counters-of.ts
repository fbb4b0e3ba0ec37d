import type { Tunnel } from "../tunnel.ts";
import type { ContractCounters, ContractRecord } from "./tunnel-contract.ts";

/** What the contract asks of a tunnel's counters, as plain numbers. */
export function contractCounters(tunnel: Tunnel): ContractCounters {
  const { peers, totals, handshakes } = tunnel.counters();
  const column = peers.columns.indexOf("rxBytes");
  const rxBytes = peers.publicKeys.flatMap((publicKey, row) => {
    const bytes = peers.values[row * peers.columns.length + column];
    return publicKey === undefined || bytes === undefined ? [] : [{ publicKey, bytes: Number(bytes) }];
  });
  const cookiesWanted = Number(totals.values[totals.columns.indexOf("cookiesWanted")] ?? 0n);
  return { initiationsSent: handshakes.initiationsSent, cookiesWanted, rxBytes };
}

/** Records of all flows, with their numbers as text. */
export function contractRecords(tunnel: Tunnel): readonly ContractRecord[] {
  const { records } = tunnel.takeFlowRecords({ sampling: 1, recordsMax: 100 });
  return records.map((record) => ({ ...record, id: String(record.id) }));
}
