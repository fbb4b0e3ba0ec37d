import { pruneFlows } from "../db/flow-records-repository.ts";
import type { Executor } from "../db/client.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { startJob } from "./job.ts";
import { prune } from "./prune.ts";
import type { Retention } from "./prune.ts";

/** Everything that runs by the clock. */
export function startJobs(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly retention: Retention;
  readonly flushTraffic: () => Promise<void>;
  readonly flushFlows: () => Promise<void>;
  readonly removeAbsent: () => Promise<void>;
  /** Keeps new conceal profiles, or takes them back. */
  readonly watchConceal: () => Promise<void>;
  /** Sends webhooks that are due. */
  readonly sendWebhooks: () => Promise<void>;
  /** Writes what jobs of nodes found, and ends those that nobody runs any more. */
  readonly turnNodeJobs: () => Promise<void>;
  /** Asks the feed of releases when its time has come. */
  readonly lookForUpdates: () => Promise<void>;
  readonly onError: (event: string, error: unknown) => void;
}): { readonly dispose: () => void } {
  const { db, clock, retention, onError } = deps;
  const jobs = [
    startJob({ everyMs: FLUSH_MS, run: deps.flushTraffic, onError: (error) => onError("traffic_not_stored", error) }),
    startJob({
      everyMs: FLUSH_FLOWS_MS,
      run: deps.flushFlows,
      onError: (error) => onError("flows_not_stored", error),
    }),
    startJob({
      everyMs: PRUNE_FLOWS_MS,
      run: () => pruneFlows(db, { nowMs: clock.nowMs(), rowsMax: FLOW_ROWS_MAX }),
      onError: (error) => onError("flows_not_pruned", error),
    }),
    startJob({
      everyMs: ABSENCE_MS,
      run: deps.removeAbsent,
      onError: (error) => onError("absent_peers_not_removed", error),
    }),
    startJob({
      everyMs: CONCEAL_MS,
      run: deps.watchConceal,
      onError: (error) => onError("conceal_not_watched", error),
    }),
    startJob({
      everyMs: WEBHOOKS_MS,
      run: deps.sendWebhooks,
      onError: (error) => onError("webhooks_not_sent", error),
    }),
    startJob({
      everyMs: NODE_JOBS_MS,
      run: deps.turnNodeJobs,
      onError: (error) => onError("node_jobs_not_written", error),
    }),
    startJob({
      everyMs: UPDATES_MS,
      run: deps.lookForUpdates,
      onError: (error) => onError("update_notice_not_kept", error),
    }),
    startJob({
      everyMs: PRUNE_MS,
      run: () => prune(db, { nowMs: clock.nowMs(), ...retention }),
      onError: (error) => onError("prune_failed", error),
    }),
  ];
  return {
    dispose: () => {
      for (const job of jobs) job.dispose();
    },
  };
}

const FLUSH_MS = 10_000;
const FLUSH_FLOWS_MS = 2_000;
const PRUNE_FLOWS_MS = 60_000;
/** Reported flows of one network; the oldest go first. */
const FLOW_ROWS_MAX = 1_000_000;
/** Absent peers go at most this long after their time, and the time of a statement. */
const ABSENCE_MS = 10_000;
const CONCEAL_MS = 5_000;
const WEBHOOKS_MS = 1_000;
const NODE_JOBS_MS = 1_000;
const UPDATES_MS = 60_000;
const PRUNE_MS = 10 * 60_000;
