import { err } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { transact } from "../../db/transact.ts";
import { findCredentialsOf } from "../../db/users-repository.ts";
import type { Credentials } from "../../db/users-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";

/** The browser session that a change of one's own account comes from. */
export type Present = { readonly userId: string; readonly sessionId: string; readonly credentials: Credentials };

type Step<T> = {
  /** Name of the audit event. */
  readonly action: string;
  /** The caller's password, where the change asks for it. */
  readonly password?: string;
  readonly apply: (tx: Executor, who: Present) => Promise<Result<T, Failure>>;
};

/**
 * Changes the caller's own account. Guesses of passwords and codes count together with those at the login, so nobody
 * gets more of them here; failed ones are written down.
 */
export async function changeOwn<T>(deps: FeatureDeps, call: Call, step: Step<T>): Promise<Result<T, Failure>> {
  const { actor } = call;
  const { db } = deps.database;
  if (actor.kind !== "user") {
    return err({ code: "forbidden", detail: "this needs a person in a browser; tokens cannot do it" });
  }
  const subjects = { account: actor.login.toLowerCase(), address: call.address };
  const attempt = deps.throttle.begin(subjects, deps.clock.nowMs());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  const credentials = await findCredentialsOf(db, actor.userId);
  if (!credentials) return err({ code: "not_found", what: "user" });
  const note = { objectId: actor.userId, networkId: null, before: null, after: null };
  const at = new Date(deps.clock.nowMs());
  const isRight =
    step.password === undefined || (await deps.passwords.matches(credentials.passwordHash ?? undefined, step.password));
  const changed = await transact(db, async (tx): Promise<Result<T, Failure>> => {
    if (!isRight) return err({ code: "password_wrong" });
    const applied = await step.apply(tx, { userId: actor.userId, sessionId: actor.sessionId, credentials });
    if (applied.ok) await recordAudit(tx, call, { ...note, action: step.action, at });
    return applied;
  });
  if (changed.ok) deps.throttle.succeed(subjects);
  else
    await recordAudit(db, call, { ...note, action: `${step.action}Failed`, after: { reason: changed.error.code }, at });
  return changed;
}
