import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { findCredentials, lockCredentials } from "../../db/users-repository.ts";
import type { Credentials } from "../../db/users-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { spendCode } from "../../registry/second-factor.ts";
import type { SpentCode } from "../../registry/second-factor.ts";
import { startSession } from "../../registry/session-start.ts";
import type { sessionsContract } from "./contract.ts";

/**
 * Starts a session. Unknown login, wrong password and disabled user look the same, also in time. An account with a
 * second factor is told so only after its password was right; the caller sends all three together then, so there is
 * no half login that somebody could take over.
 */
export async function login(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof sessionsContract.login>,
): Outcome<typeof sessionsContract.login> {
  const { db } = deps.database;
  const subjects = { account: input.login.toLowerCase(), address: call.address };
  const attempt = deps.throttle.begin(subjects, deps.clock.nowMs());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  const found = await findCredentials(db, input.login);
  const matches = await deps.passwords.matches(found?.passwordHash ?? undefined, input.password);
  const failed = failedAttempt(deps, call, { login: input.login, userId: found?.user.id ?? null });
  if (!found || !matches || found.isDisabled) return failed("sessions.loginFailed", { code: "login_failed" });
  const started = await transact(db, async (tx): Promise<Result<{ readonly user: SignedIn }, Failure>> => {
    // Whoever changed the account while the password was checked was first: what they decided counts.
    const now = await lockCredentials(tx, found.user.id);
    if (!now || now.isDisabled || now.passwordHash !== found.passwordHash) return err({ code: "login_failed" });
    if (now.totp && input.code === undefined) return err({ code: "second_factor_needed" });
    let spent: SpentCode | undefined;
    if (now.totp) {
      const owner = { userId: now.user.id, sealedSecret: now.totp.secret };
      spent = await spendCode(deps, tx, { ...owner, code: input.code ?? "" });
      if (!spent) return err({ code: "second_factor_wrong" });
    }
    return start(deps, tx, { call, found: now, spent });
  });
  if (started.ok) deps.throttle.succeed(subjects);
  else if (started.error.code === "second_factor_wrong") return failed("sessions.secondFactorFailed", started.error);
  else if (started.error.code === "login_failed") return failed("sessions.loginFailed", started.error);
  return started;
}

type SignedIn = Pick<Credentials["user"], "id" | "login" | "role">;

async function start(
  deps: FeatureDeps,
  tx: Parameters<typeof startSession>[1],
  { call, found, spent }: { call: Call; found: Credentials; spent: SpentCode | undefined },
) {
  const { id, login, role } = found.user;
  await startSession(deps, tx, { call, userId: id });
  await recordAudit(tx, call, {
    action: "sessions.login",
    objectId: id,
    networkId: null,
    before: null,
    after: { login, secondFactor: spent ?? "none" },
    at: new Date(deps.clock.nowMs()),
  });
  return ok({ user: { id, login, role } });
}

/** Writes down that somebody was turned away, and turns them away. */
function failedAttempt(
  deps: FeatureDeps,
  call: Call,
  { login, userId }: { readonly login: string; readonly userId: string | null },
) {
  return async (action: string, failure: Failure): Promise<Result<never, Failure>> => {
    const at = new Date(deps.clock.nowMs());
    const note = { action, objectId: userId, networkId: null, before: null, after: { login } };
    await recordAudit(deps.database.db, call, { ...note, at });
    return err(failure);
  };
}
