import { err, ok, userIds } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { insertIdentity } from "../../db/identities-repository.ts";
import { noteInviteUse } from "../../db/invites-repository.ts";
import { findCredentials, insertUser, lockUsers } from "../../db/users-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { OidcIdentity } from "../../registry/oidc.ts";
import { spendInvite } from "../../registry/spend-invite.ts";
import { LoginSchema } from "../../registry/user-schemas.ts";

type Newcomer = {
  readonly call: Call;
  readonly identity: OidcIdentity;
  readonly provider: { readonly name: string; readonly newcomers: "refuse" | "wait" };
  readonly invite: string | undefined;
};

/** Makes the account of somebody who came for the first time: with an invite at once, without one to wait or not at all. */
export async function welcomeNewcomer(
  deps: FeatureDeps,
  tx: Executor,
  { call, identity, provider, invite }: Newcomer,
): Promise<Result<string, Failure>> {
  const now = new Date(deps.clock.nowMs());
  const { issuer, subject } = identity;
  const id = userIds.make(deps.random);
  if (invite !== undefined) {
    const spent = await spendInvite(tx, invite, now);
    if (!spent.ok) return spent;
    const login = spent.value.login ?? (await freeLogin(tx, identity));
    const user = { id, login, role: spent.value.role };
    await insertUser(tx, { ...user, passwordHash: null, createdAt: now });
    await insertIdentity(tx, { issuer, subject, userId: id, createdAt: now });
    await noteInviteUse(tx, spent.value.id, id);
    const note = { action: "invites.accept", objectId: id, networkId: null };
    await recordAudit(tx, call, { ...note, before: { inviteId: spent.value.id }, after: user, at: now });
    return ok(id);
  }
  if (provider.newcomers === "refuse") return err({ code: "identity_unknown", provider: provider.name });
  const user = { id, login: await freeLogin(tx, identity), role: "none" } as const;
  await insertUser(tx, { ...user, passwordHash: null, createdAt: now, approvedAt: null });
  await insertIdentity(tx, { issuer, subject, userId: id, createdAt: now });
  const note = { action: "users.wait", objectId: id, networkId: null };
  await recordAudit(tx, call, { ...note, before: null, after: { ...user, provider: provider.name }, at: now });
  return ok(id);
}

/** A login that nobody has. The provider's name for somebody is a wish: it never leads to an account that exists. */
async function freeLogin(tx: Executor, { name, subject }: OidcIdentity): Promise<string> {
  await lockUsers(tx);
  const wish = (name ?? subject).replace(/[\s\p{C}]+/gu, "-").slice(0, LOGIN_LENGTH_MAX);
  const parsed = LoginSchema.safeParse(wish);
  const stem = parsed.success ? parsed.data : "user";
  for (let number = 1; ; number += 1) {
    const login = number === 1 ? stem : `${stem}-${number}`;
    if (!(await findCredentials(tx, login))) return login;
  }
}

/** Leaves room for a number. */
const LOGIN_LENGTH_MAX = 80;
