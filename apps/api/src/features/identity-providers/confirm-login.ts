import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { findIdentity, findProvider, takeLogin } from "../../db/identities-repository.ts";
import { transact } from "../../db/transact.ts";
import { lockCredentials } from "../../db/users-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { ServerRole } from "../../registry/access.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { hashSecret } from "../../registry/secrets.ts";
import { spendCode } from "../../registry/second-factor.ts";
import { startSession } from "../../registry/session-start.ts";
import type { identityProvidersContract } from "./contract.ts";
import { openProven } from "./login-token.ts";

type User = { readonly id: string; readonly login: string; readonly role: ServerRole };

/**
 * Ends a login of an account with a second factor: the provider vouched for the first. Everything is looked at again, so
 * that what was switched off, unlinked or changed in between lets nobody in. A wrong code may be followed by another.
 */
export async function confirmLogin(
  deps: FeatureDeps,
  call: Call,
  { loginToken, code }: InputOf<typeof identityProvidersContract.confirm>,
): Outcome<typeof identityProvidersContract.confirm> {
  const { db } = deps.database;
  const proven = openProven(deps, loginToken);
  if (!proven) return err({ code: "login_ended" });
  const subjects = { account: proven.login.toLowerCase(), address: call.address };
  const attempt = deps.throttle.begin(subjects, deps.clock.nowMs());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  const provider = await findProvider(db, proven.providerId);
  if (!provider?.isEnabled) return err({ code: "not_found", what: "identity provider" });
  const at = new Date(deps.clock.nowMs());
  const note = { objectId: proven.userId, networkId: null, before: null, at };
  const done = await transact(db, async (tx): Promise<Result<{ user: User }, Failure>> => {
    const now = await lockCredentials(tx, proven.userId);
    const isLinked = (await findIdentity(tx, proven)) === proven.userId;
    if (!now || !isLinked) return err({ code: "login_ended" });
    if (now.isDisabled) return err(disabledHere(provider));
    if (!(await takeLogin(tx, hashSecret(proven.state), new Date(proven.expiresMs)))) {
      return err({ code: "login_ended" });
    }
    const owner = now.totp && { userId: proven.userId, sealedSecret: now.totp.secret };
    const spent = owner ? await spendCode(deps, tx, { ...owner, code }) : "none";
    if (!spent) return err({ code: "second_factor_wrong" });
    await startSession(deps, tx, { call, userId: proven.userId });
    const { id, login, role } = now.user;
    const after = { login, provider: provider.name, secondFactor: spent };
    await recordAudit(tx, call, { ...note, action: "sessions.login", after });
    return ok({ user: { id, login, role } });
  });
  if (done.ok) deps.throttle.succeed(subjects);
  else {
    const after = { login: proven.login, provider: provider.name, reason: done.error.code };
    await recordAudit(db, call, { ...note, action: "sessions.secondFactorFailed", after });
  }
  return done;
}

/** Why an account that was shut lets nobody in. */
export function disabledHere({ name }: { readonly name: string }): Failure {
  return { code: "identity_refused", provider: name, detail: "the account is disabled here" };
}
