import type { RecordedFlow, Tunnel } from "@weft/dataplane";
import { FLOW_RECORDS_MAX, type AgentFrame, type FlowRecord, type MapPeer, type PublicKey } from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";
import { createDeniedFlowLimit } from "./denied-flow-limit.ts";

/** Tells the server of flows while the network's settings ask for it. */
export type FlowReporter = {
  /** A stream is there. */
  readonly connected: () => void;
  /** What happens meanwhile waits in the engine, as far as there is room. */
  readonly disconnected: () => void;
  /** A map was applied: the setting may have changed. */
  readonly tunnelChanged: () => void;
  readonly stop: () => void;
};

export type FlowReporterDeps = {
  readonly timers: Timers;
  readonly tunnel: () => Pick<Tunnel, "takeFlowRecords"> | null;
  /** One flow of so many is told of; 0 = none. */
  readonly sampling: () => number;
  readonly peerByKey: (key: PublicKey) => MapPeer | null;
  readonly counterEpoch: () => bigint;
  readonly send: (frame: AgentFrame) => void;
};

/** Once a second, at most `FLOW_RECORDS_MAX` records: what is too much for that comes later, or is counted as lost. */
export function createFlowReporter(deps: FlowReporterDeps): FlowReporter {
  const { timers } = deps;
  const limit = createDeniedFlowLimit();
  let online: "online" | "offline" = "offline";
  /** The tunnel that records for us. */
  let recording: Pick<Tunnel, "takeFlowRecords"> | null = null;
  let cancel: (() => void) | null = null;

  const report = (): void => {
    const tunnel = deps.tunnel();
    if (!tunnel) return;
    recording = tunnel;
    const { records, lost } = tunnel.takeFlowRecords({ sampling: deps.sampling(), recordsMax: FLOW_RECORDS_MAX });
    const kept = records.filter((record) => limit.takes(record, timers.nowMs()));
    const left = lost + records.length - kept.length;
    if (kept.length === 0 && left === 0) return;
    const wire = kept.map((record) => wireRecord(record, deps.peerByKey));
    deps.send({ kind: "flowRecords", flows: { counterEpoch: deps.counterEpoch(), lost: left, records: wire } });
  };
  const pause = (): void => {
    cancel?.();
    cancel = null;
  };
  const turn = (): void => {
    pause();
    if (deps.sampling() === 0) return end();
    if (online === "offline") return;
    report();
    cancel = timers.after(INTERVAL_MS, turn);
  };
  const end = (): void => {
    pause();
    recording?.takeFlowRecords({ sampling: 0, recordsMax: 0 });
    recording = null;
  };
  const stop = (): void => {
    online = "offline";
    pause();
  };
  return {
    connected() {
      online = "online";
      turn();
    },
    disconnected: stop,
    tunnelChanged() {
      if (cancel === null || deps.sampling() === 0) turn();
    },
    stop,
  };
}

function wireRecord({ publicKey, ...flow }: RecordedFlow, peerByKey: (key: PublicKey) => MapPeer | null): FlowRecord {
  return {
    ...flow,
    peerId: publicKey === null ? null : (peerByKey(publicKey)?.id ?? null),
    rxPackets: BigInt(flow.rxPackets),
    rxBytes: BigInt(flow.rxBytes),
    txPackets: BigInt(flow.txPackets),
    txBytes: BigInt(flow.txBytes),
    drops: BigInt(flow.drops),
  };
}

const INTERVAL_MS = 1_000;
