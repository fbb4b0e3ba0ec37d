import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { findUserByLogin } from "../../db/users-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { startSession } from "../../registry/session-start.ts";
import type { sessionsContract } from "./contract.ts";

/** Starts a session. Unknown login, wrong password and disabled user look the same, also in time. */
export async function login(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof sessionsContract.login>,
): Outcome<typeof sessionsContract.login> {
  const { db } = deps.database;
  const subjects = { account: input.login.toLowerCase(), address: call.address };
  const attempt = deps.throttle.begin(subjects, deps.clock.nowMs());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  const user = await findUserByLogin(db, input.login);
  const matches = await deps.passwords.matches(user?.passwordHash, input.password);
  const at = new Date(deps.clock.nowMs());
  const note = { objectId: user?.id ?? null, networkId: null, before: null, at };
  if (!user || !matches || user.isDisabled) {
    await recordAudit(db, call, { ...note, action: "sessions.loginFailed", after: { login: input.login } });
    return err({ code: "login_failed" });
  }
  deps.throttle.succeed(subjects);
  return transact(db, async (tx) => {
    await startSession(deps, tx, { call, userId: user.id });
    await recordAudit(tx, call, { ...note, action: "sessions.login", after: { login: user.login } });
    return ok({ user: { id: user.id, login: user.login, role: user.role } });
  });
}
