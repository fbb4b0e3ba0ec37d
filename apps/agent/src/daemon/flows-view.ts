import type { FlowState, Tunnel } from "@weft/dataplane";
import type { NetworkMap } from "@weft/protocol";

import { valueAt } from "./counter-report.ts";

/** What `weft flows --json` prints. */
export type FlowsView = {
  /** Flows the filter remembers; `flows` has the ones with the most bytes. */
  readonly total: number;
  readonly flows: readonly FlowView[];
  readonly rules: readonly RuleView[];
};

/** One flow with the name of its peer; `null` when the peer is gone. */
export type FlowView = Omit<FlowState, "publicKey"> & { readonly peer: string | null };

/** What met one rule of the filter, both ways. */
export type RuleView = {
  readonly rule: number;
  readonly packets: number;
  readonly bytes: number;
  readonly drops: number;
};

export function flowsView(
  tunnel: Pick<Tunnel, "flows" | "counters"> | null,
  map: Pick<NetworkMap, "peers"> | null,
  flowsMax: number,
): FlowsView {
  if (!tunnel) return { total: 0, flows: [], rules: [] };
  const names = new Map(map?.peers.map(({ publicKey, name }) => [publicKey, name]));
  const { total, flows } = tunnel.flows(flowsMax);
  return {
    total,
    flows: flows.map(({ publicKey, ...flow }) => ({
      peer: publicKey === null ? null : (names.get(publicKey) ?? null),
      ...flow,
    })),
    rules: ruleViews(tunnel),
  };
}

function ruleViews(tunnel: Pick<Tunnel, "counters">): RuleView[] {
  const { rules } = tunnel.counters();
  const cell = (row: number, name: string): number => Number(valueAt(rules, row, rules.columns.indexOf(name)));
  return Array.from({ length: rules.rows }, (_, row) => ({
    rule: cell(row, "rule"),
    packets: cell(row, "packets"),
    bytes: cell(row, "bytes"),
    drops: cell(row, "drops"),
  }));
}
