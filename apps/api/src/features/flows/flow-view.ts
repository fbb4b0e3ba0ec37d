import type { FlowRow } from "../../db/flow-records-repository.ts";

/** A flow as callers see it. */
export function flowView(flow: FlowRow) {
  const { rxPackets, rxBytes, txPackets, txBytes, drops, startedAt, lastAt, ...rest } = flow;
  return {
    ...rest,
    rxPackets: String(rxPackets),
    rxBytes: String(rxBytes),
    txPackets: String(txPackets),
    txBytes: String(txBytes),
    drops: String(drops),
    startedAt: startedAt.toISOString(),
    lastAt: lastAt.toISOString(),
  };
}
