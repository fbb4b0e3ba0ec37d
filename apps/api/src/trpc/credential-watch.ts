import { findSession } from "../db/sessions-repository.ts";
import { isTokenAlive } from "../db/tokens-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { startJob } from "../jobs/job.ts";
import type { Actor } from "../registry/call.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";

/** Looks after the credential of a stream for as long as the stream is open. */
export type CredentialWatch = {
  /** Aborts once the credential is gone. */
  readonly signal: AbortSignal;
  /** Why the stream must end; nothing while the credential is good. */
  readonly failure: () => Failure | undefined;
  readonly dispose: () => void;
};

/**
 * A stream is authorised when it opens and may last for days: a revoked token, a logged-out session or a disabled user
 * must end it. When the database cannot say, the stream ends as well; the client comes again and is asked anew.
 */
export function watchCredential(deps: Pick<FeatureDeps, "database" | "clock">, actor: Actor): CredentialWatch {
  const lost = new AbortController();
  let failure: Failure | undefined;
  const end = (reason: Failure) => {
    failure ??= reason;
    lost.abort();
  };
  const job = startJob({
    everyMs: LOOK_MS,
    run: async () => {
      if (await isAlive(deps, actor)) return;
      end({ code: "not_authenticated", detail: "the session or token of this stream has ended" });
    },
    onError: () => end({ code: "internal" }),
  });
  return { signal: lost.signal, failure: () => failure, dispose: job.dispose };
}

/** One look-up by primary key. */
async function isAlive({ database, clock }: Pick<FeatureDeps, "database" | "clock">, actor: Actor): Promise<boolean> {
  const now = new Date(clock.nowMs());
  if (actor.kind === "user") return (await findSession(database.db, actor.sessionId, now)) !== undefined;
  if (actor.kind === "token") return isTokenAlive(database.db, actor.tokenId, now);
  return actor.kind === "anonymous";
}

/** Leaves room for the look-up itself within a second. */
const LOOK_MS = 800;
