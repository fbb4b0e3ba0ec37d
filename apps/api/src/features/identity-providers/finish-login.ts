import { randomBytes } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import type { Executor } from "../../db/client.ts";
import { findIdentity, findProvider, insertIdentity, takeLogin } from "../../db/identities-repository.ts";
import { transact } from "../../db/transact.ts";
import { findUser, lockCredentials } from "../../db/users-repository.ts";
import type { Account } from "../../db/users-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { ServerRole } from "../../registry/access.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { OidcIdentity } from "../../registry/oidc.ts";
import { hashSecret, sameSecret } from "../../registry/secrets.ts";
import { startSession } from "../../registry/session-start.ts";
import type { identityProvidersContract } from "./contract.ts";
import { disabledHere } from "./confirm-login.ts";
import { openLogin, sealProven } from "./login-token.ts";
import { welcomeNewcomer } from "./newcomers.ts";
import { openProvider } from "./provider-secrets.ts";

type Finish = InputOf<typeof identityProvidersContract.finish>;

/** Ends a login at a provider. The state is spent before the provider is asked: whatever follows, it works once. */
export async function finishLogin(
  deps: FeatureDeps,
  call: Call,
  { loginToken, query, invite }: Finish,
): Outcome<typeof identityProvidersContract.finish> {
  const { db } = deps.database;
  const login = openLogin(deps, loginToken);
  const state = new URLSearchParams(query).get("state");
  if (!login || state === null || !sameSecret(state, login.state)) return err({ code: "login_ended" });
  const { actor } = call;
  if (login.linkTo !== null && !(actor.kind === "user" && actor.userId === login.linkTo)) {
    return err({ code: "login_ended" });
  }
  const stored = await findProvider(db, login.providerId);
  if (!stored?.isEnabled) return err({ code: "not_found", what: "identity provider" });
  if (!(await takeLogin(db, hashSecret(login.state), new Date(login.expiresMs)))) return err({ code: "login_ended" });
  const identity = await deps.oidc.finish(openProvider(deps, stored), login, query);
  const finished = identity.ok
    ? await accept(deps, call, { identity: identity.value, provider: stored, linkTo: login.linkTo, invite })
    : identity;
  if (!finished.ok && finished.error.code !== "second_factor_next") {
    const note = { action: "sessions.loginFailed", objectId: null, networkId: null, before: null };
    const after = { provider: stored.name, reason: finished.error.code };
    await recordAudit(db, call, { ...note, after, at: new Date(deps.clock.nowMs()) });
  }
  return finished;
}

type Arrival = {
  readonly identity: OidcIdentity;
  readonly provider: { readonly id: string; readonly name: string; readonly newcomers: "refuse" | "wait" };
  readonly linkTo: string | null;
  readonly invite: string | undefined;
};

type User = { readonly id: string; readonly login: string; readonly role: ServerRole };

async function accept(deps: FeatureDeps, call: Call, arrival: Arrival): Promise<Result<{ user: User }, Failure>> {
  const { provider } = arrival;
  const work = () =>
    transact(deps.database.db, async (tx): Promise<Result<{ user: User } | "waits", Failure>> => {
      const account = await accountOf(deps, tx, { call, arrival });
      if (!account.ok) return account;
      const { id, login, role, approvedAt } = account.value;
      // Somebody who waits is written down all the same.
      if (approvedAt === null) return ok("waits");
      const now = await lockCredentials(tx, id);
      if (!now || now.isDisabled) return err(disabledHere(provider));
      if (arrival.linkTo === null && now.totp) {
        const { issuer, subject } = arrival.identity;
        const state = randomBytes(32).toString("base64url");
        const proven = { providerId: provider.id, issuer, subject, userId: id, login, state };
        return err({ code: "second_factor_next", loginToken: sealProven(deps, proven) });
      }
      if (arrival.linkTo === null) await startSession(deps, tx, { call, userId: id });
      await recordAudit(tx, call, {
        action: arrival.linkTo === null ? "sessions.login" : "account.linkIdentity",
        objectId: id,
        networkId: null,
        before: null,
        after: { login, provider: provider.name },
        at: new Date(deps.clock.nowMs()),
      });
      return ok({ user: { id, login, role } });
    });
  const done = await work().catch((error: unknown) => {
    if (isDuplicate(error, "identities_issuer_subject_pk")) return err({ code: "identity_taken" } as const);
    throw error;
  });
  if (!done.ok) return done;
  if (done.value === "waits") return err({ code: "identity_waiting", provider: provider.name } as const);
  return ok(done.value);
}

/** The account that an identity belongs to: found by issuer and subject, and by nothing else. */
async function accountOf(
  deps: FeatureDeps,
  tx: Executor,
  { call, arrival }: { readonly call: Call; readonly arrival: Arrival },
): Promise<Result<Account, Failure>> {
  const { identity, provider, linkTo, invite } = arrival;
  const known = await findIdentity(tx, identity);
  let userId = known;
  if (linkTo !== null) {
    if (known !== undefined && known !== linkTo) return err({ code: "identity_taken" });
    const { issuer, subject } = identity;
    if (known === undefined) {
      await insertIdentity(tx, { issuer, subject, userId: linkTo, createdAt: new Date(deps.clock.nowMs()) });
    }
    userId = linkTo;
  }
  if (userId === undefined) {
    const made = await welcomeNewcomer(deps, tx, { call, identity, provider, invite });
    if (!made.ok) return made;
    userId = made.value;
  }
  const account = await findUser(tx, userId);
  return account ? ok(account) : err({ code: "identity_unknown", provider: provider.name });
}
