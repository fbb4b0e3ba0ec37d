import type { Tunnel } from "../tunnel.ts";
import type { ContractCounters } from "./tunnel-contract.ts";

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
