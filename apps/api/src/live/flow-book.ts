import { createHash } from "node:crypto";
import type { FlowReport, PeerId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { storeFlows } from "../db/flow-records-repository.ts";
import { storedFlow } from "../domain/flow-record.ts";
import type { StoredFlow } from "../domain/flow-record.ts";
import type { NetworkMirror } from "./network-mirror.ts";
import { ruleNumbers } from "./rule-numbers.ts";

/** Flows that nodes reported, on their way to the database. */
export type FlowBook = {
  /** Records of a network that does not ask for them are thrown away. */
  readonly ingest: (
    from: { readonly mirror: NetworkMirror; readonly peerId: PeerId },
    report: FlowReport,
    nowMs: number,
  ) => void;
  /** One statement per thousand flows. */
  readonly flush: () => Promise<void>;
  readonly counts: () => FlowCounts;
};

export type FlowCounts = {
  readonly stored: number;
  /** Lost on nodes, because flows came too fast there. */
  readonly lostOnNodes: number;
  /** Lost here, because more came than could be written. */
  readonly lostHere: number;
};

export function createFlowBook(db: Executor): FlowBook {
  /** A later record of a flow replaces the one that waits. */
  const waiting = new Map<string, StoredFlow>();
  const counts = { stored: 0, lostOnNodes: 0, lostHere: 0 };
  return {
    ingest({ mirror, peerId }, report, nowMs) {
      const { id: networkId, flowSampling } = mirror.network();
      if (flowSampling === null || !mirror.peers().has(peerId)) return;
      counts.lostOnNodes += report.lost;
      const { counterEpoch } = report;
      const rules = ruleNumbers(mirror);
      const source = {
        networkId,
        peerId,
        counterEpoch,
        nowMs,
        isMember: (id: PeerId) => mirror.peers().has(id),
        ruleOf: (number: number) => rules.get(number),
        hash: (text: string) => createHash("sha256").update(text).digest(),
      };
      for (const record of report.records) {
        const flow = storedFlow(record, source);
        if (waiting.size < WAITING_MAX || waiting.has(flow.id)) waiting.set(flow.id, flow);
        else counts.lostHere += 1;
      }
    },
    async flush() {
      const flows = [...waiting.values()];
      waiting.clear();
      for (let start = 0; start < flows.length; start += BATCH) {
        const batch = flows.slice(start, start + BATCH);
        try {
          await storeFlows(db, batch);
          counts.stored += batch.length;
        } catch (error) {
          counts.lostHere += flows.length - start;
          throw error;
        }
      }
    },
    counts: () => ({ ...counts }),
  };
}

/** Records that wait for the next flush, two seconds away. */
const WAITING_MAX = 20_000;
const BATCH = 1_000;
