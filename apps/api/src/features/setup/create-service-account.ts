import { err, userIds } from "@weft/protocol";
import { takeBootstrap } from "../../db/instance-repository.ts";
import { transact } from "../../db/transact.ts";
import { insertUser, lockUsers } from "../../db/users-repository.ts";
import { addressGroup } from "../../domain/address-group.ts";
import { SCOPE_RESOURCES } from "../../registry/access.ts";
import type { Scope } from "../../registry/access.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { issueToken } from "../../registry/issue-token.ts";
import { sameSecret } from "../../registry/secrets.ts";
import type { setupContract } from "./contract.ts";

/** Spends the bootstrap token on a service account with every right; its token can make whatever else is needed. */
export async function createFirstServiceAccount(
  deps: FeatureDeps,
  call: Call,
  { bootstrapToken, login }: InputOf<typeof setupContract.createServiceAccount>,
): Outcome<typeof setupContract.createServiceAccount> {
  const subjects = { account: `bootstrap from ${addressGroup(call.address)}`, address: call.address };
  const now = new Date(deps.clock.nowMs());
  const attempt = deps.throttle.begin(subjects, now.getTime());
  if (!attempt.allowed) return err({ code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds });
  if (!isBootstrapToken(deps, bootstrapToken)) return err({ code: "bootstrap_unusable" });
  deps.throttle.succeed(subjects);
  return transact(deps.database.db, async (tx) => {
    await lockUsers(tx);
    if (!(await takeBootstrap(tx, now))) return err({ code: "bootstrap_unusable" });
    const account = { id: userIds.make(deps.random), kind: "service", login, role: "owner" } as const;
    await insertUser(tx, { ...account, passwordHash: null, createdAt: now });
    const note = { action: "setup.createServiceAccount", objectId: account.id, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: account, at: now });
    const wanted = { kind: "svc", userId: account.id, name: "bootstrap", action: "tokens.create" } as const;
    return issueToken(deps, tx, { call, wanted: { ...wanted, scopes: EVERY_SCOPE } });
  });
}

/** True when `shown` is the bootstrap token of this start; whether it still counts, the database says. */
export function isBootstrapToken({ server }: Pick<FeatureDeps, "server">, shown: string): boolean {
  return server.bootstrapToken !== undefined && sameSecret(shown, server.bootstrapToken);
}

const EVERY_SCOPE = SCOPE_RESOURCES.map((resource): Scope => `${resource}:write`);
