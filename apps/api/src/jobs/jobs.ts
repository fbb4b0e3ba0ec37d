import { pruneChanges } from "../db/changes-repository.ts";
import type { Executor } from "../db/client.ts";
import { deleteAnswersBefore } from "../db/idempotency-repository.ts";
import { deleteExpiredSessions } from "../db/sessions-repository.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import { KEPT_MS } from "../registry/run-once.ts";
import { startJob } from "./job.ts";

/** Everything that runs by the clock. */
export function startJobs(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly flushTraffic: () => Promise<void>;
  readonly onError: (event: string, error: unknown) => void;
}): { readonly dispose: () => void } {
  const { db, clock, onError } = deps;
  const jobs = [
    startJob({ everyMs: FLUSH_MS, run: deps.flushTraffic, onError: (error) => onError("traffic_not_stored", error) }),
    startJob({
      everyMs: PRUNE_MS,
      run: async () => {
        await deleteExpiredSessions(db, new Date(clock.nowMs()));
        await deleteAnswersBefore(db, new Date(clock.nowMs() - KEPT_MS));
        await pruneChanges(db, CHANGES_KEPT);
      },
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
const PRUNE_MS = 10 * 60_000;
/** Changes per network that a replica may lag behind before it reads everything again. */
const CHANGES_KEPT = 10_000;
