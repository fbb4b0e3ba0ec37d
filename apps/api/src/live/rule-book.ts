import type { CountersReport, PeerId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { storeRuleHits } from "../db/rule-hits-repository.ts";
import type { ReportedHits } from "../db/rule-hits-repository.ts";
import type { NetworkMirror } from "./network-mirror.ts";
import { ruleNumbers } from "./rule-numbers.ts";

/** What met rules on all nodes, on its way to the database. */
export type RuleBook = {
  /** Numbers that no rule of the network has are skipped (AP-64). */
  readonly ingest: (
    from: { readonly mirror: NetworkMirror; readonly peerId: PeerId },
    report: CountersReport,
    nowMs: number,
  ) => void;
  /** One statement per thousand rules and nodes. */
  readonly flush: () => Promise<void>;
};

export function createRuleBook(db: Executor): RuleBook {
  /** The newest counts of a rule on a node replace those that wait: they are sums. */
  const waiting = new Map<string, ReportedHits>();
  return {
    ingest({ mirror, peerId }, { rules = [], counterEpoch }, nowMs) {
      if (rules.length === 0 || !mirror.peers().has(peerId)) return;
      const known = ruleNumbers(mirror);
      for (const { rule, packets, bytes, drops, flows, lastHitAgeMs } of rules) {
        const ruleId = known.get(rule);
        const key = `${peerId} ${ruleId}`;
        if (ruleId === undefined || (waiting.size >= WAITING_MAX && !waiting.has(key))) continue;
        waiting.set(key, {
          ruleId,
          peerId,
          counterEpoch: String(counterEpoch),
          packets: storable(packets),
          bytes: storable(bytes),
          drops: storable(drops),
          flows: storable(flows),
          lastHitAt: lastHitAgeMs === null ? null : new Date(Math.max(0, nowMs - lastHitAgeMs)),
        });
      }
    },
    async flush() {
      const hits = [...waiting];
      waiting.clear();
      for (let start = 0; start < hits.length; start += BATCH) {
        const batch = hits.slice(start, start + BATCH);
        try {
          await storeRuleHits(
            db,
            batch.map(([, one]) => one),
          );
        } catch (error) {
          // Nothing is lost: the next round writes what this one could not.
          hits
            .slice(start)
            .filter(([key]) => !waiting.has(key))
            .forEach(([key, one]) => waiting.set(key, one));
          throw error;
        }
      }
    },
  };
}

/** The database's numbers have 63 bits. */
function storable(count: bigint): bigint {
  return count < STORED_MAX ? count : STORED_MAX;
}

const STORED_MAX = 2n ** 63n - 1n;
/** Pairs of rule and node that wait for the next flush. */
const WAITING_MAX = 100_000;
const BATCH = 1_000;
