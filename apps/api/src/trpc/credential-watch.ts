import { findSession } from "../db/sessions-repository.ts";
import { findLiveToken } from "../db/tokens-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { startJob } from "../jobs/job.ts";
import type { Access } from "../registry/access.ts";
import { authorise } from "../registry/authorise.ts";
import type { Actor } from "../registry/call.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";

/** Looks after the right to a stream for as long as the stream is open. */
export type CredentialWatch = {
  /** Aborts once the right is gone. */
  readonly signal: AbortSignal;
  /** Why the stream must end; nothing while the right is good. */
  readonly failure: () => Failure | undefined;
  readonly dispose: () => void;
};

type Watched = { readonly access: Access; readonly actor: Actor; readonly input: unknown };

/**
 * A stream is authorised when it opens and may last for days: a revoked token, a logged-out session, a disabled user or
 * a weaker role must end it. When the database cannot say, the stream ends as well; the client comes again and is asked
 * anew.
 */
export function watchCredential(deps: Pick<FeatureDeps, "database" | "clock">, watched: Watched): CredentialWatch {
  const lost = new AbortController();
  let failure: Failure | undefined;
  const end = (reason: Failure) => {
    failure ??= reason;
    lost.abort();
  };
  const job = startJob({
    everyMs: LOOK_MS,
    run: async () => {
      const actor = await currentActor(deps, watched.actor);
      if (!actor) {
        return end({ code: "not_authenticated", detail: "the session or token of this stream has ended" });
      }
      const allowed = await authorise(deps.database.db, watched.access, { actor, input: watched.input });
      if (!allowed.ok) end(allowed.error);
    },
    onError: () => end({ code: "internal" }),
  });
  return { signal: lost.signal, failure: () => failure, dispose: job.dispose };
}

/** The actor with the rights of this moment; undefined once the credential is gone. One look-up by key. */
async function currentActor(
  { database, clock }: Pick<FeatureDeps, "database" | "clock">,
  actor: Actor,
): Promise<Actor | undefined> {
  const now = new Date(clock.nowMs());
  switch (actor.kind) {
    case "user": {
      const found = await findSession(database.db, actor.sessionId, now);
      return found && { ...actor, ...rightsNow(found.user) };
    }
    case "token": {
      const found = await findLiveToken(database.db, actor.tokenId, now);
      return found && { ...actor, ...rightsNow(found.user), scopes: found.token.scopes };
    }
    case "anonymous":
      return actor;
    case "node":
      return undefined;
  }
}

function rightsNow({
  role,
  networkRoles,
  grants,
}: Pick<Extract<Actor, { userId: string }>, "role" | "networkRoles" | "grants">) {
  return { role, networkRoles, grants };
}

/** Leaves room for the look-up itself within a second. */
const LOOK_MS = 800;
