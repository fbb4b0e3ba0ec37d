import { err } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { transact } from "../db/transact.ts";
import { sessionBegan } from "../db/sessions-repository.ts";
import { findCredentialsOf, lockCredentials } from "../db/users-repository.ts";
import type { Credentials } from "../db/users-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { recordAudit } from "./audit.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { spendCode } from "./second-factor.ts";

/** The browser session that a change of one's own account comes from. */
export type Present = { readonly userId: string; readonly sessionId: string; readonly credentials: Credentials };

/** A password, or a code of the second factor. */
export type Proof = { readonly password?: string | undefined; readonly code?: string | undefined };

type Step<T> = {
  /** Name of the audit event. */
  readonly action: string;
  /** The caller's password, where the change asks for it. */
  readonly password?: string;
  /** What shows that the caller is the account's owner, where the change alters how they sign in. */
  readonly proof?: Proof;
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
  const password = step.password ?? step.proof?.password;
  const isRight =
    password === undefined || (await deps.passwords.matches(credentials.passwordHash ?? undefined, password));
  const changed = await transact(db, async (tx): Promise<Result<T, Failure>> => {
    // The password was compared with a hash that must still be the account's.
    const now = await lockCredentials(tx, actor.userId);
    if (!isRight || !now || now.passwordHash !== credentials.passwordHash) return err({ code: "password_wrong" });
    const who = { userId: actor.userId, sessionId: actor.sessionId, credentials: now };
    const unproven = step.proof && (await refuseUnproven(deps, tx, { who, proof: step.proof }));
    if (unproven) return err(unproven);
    const applied = await step.apply(tx, who);
    if (applied.ok) await recordAudit(tx, call, { ...note, action: step.action, at });
    return applied;
  });
  if (changed.ok) deps.throttle.succeed(subjects);
  else
    await recordAudit(db, call, { ...note, action: `${step.action}Failed`, after: { reason: changed.error.code }, at });
  return changed;
}

/**
 * Says why a proof is none. A password was checked before; a code counts where the account has a second factor. Who has
 * neither came from a provider, and proves it by having just come from there.
 */
async function refuseUnproven(
  deps: FeatureDeps,
  tx: Executor,
  { who, proof }: { readonly who: Present; readonly proof: Proof },
): Promise<Failure | undefined> {
  const { passwordHash, totp } = who.credentials;
  if (proof.password !== undefined) return undefined;
  if (proof.code !== undefined && totp) {
    const owner = { userId: who.userId, sealedSecret: totp.secret };
    return (await spendCode(deps, tx, { ...owner, code: proof.code })) ? undefined : { code: "code_wrong" };
  }
  if (passwordHash !== null) return { code: "proof_needed", detail: "repeat your password, or send a code" };
  if (totp) return { code: "proof_needed", detail: "send a code of your second factor" };
  const began = await sessionBegan(tx, who.sessionId);
  if (began && deps.clock.nowMs() - began.getTime() <= FRESH_MS) return undefined;
  return { code: "proof_needed", detail: "sign in again first: this session is older than ten minutes" };
}

const FRESH_MS = 10 * 60_000;
