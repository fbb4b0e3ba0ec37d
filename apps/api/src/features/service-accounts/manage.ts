import { err, ok, userIds } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { existingNetworks } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { changeUser, deleteUser, findUser, insertUser, replaceNetworkRoles } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import { changeAccount, refuseStronger, refuseStrongerAccount } from "../../registry/change-account.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { issueToken } from "../../registry/issue-token.ts";
import { listAccounts } from "../../registry/list-accounts.ts";
import type { serviceAccountsContract } from "./contract.ts";

type Named = InputOf<typeof serviceAccountsContract.disable>;
type Answer = Outcome<typeof serviceAccountsContract.disable>;

/** Lists service accounts. */
export async function listServiceAccounts(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof serviceAccountsContract.list>,
): Outcome<typeof serviceAccountsContract.list> {
  return listAccounts(deps, "service", input);
}

/** Shows one service account. */
export async function getServiceAccount(deps: FeatureDeps, _call: Call, input: Named): Answer {
  const account = await findUser(deps.database.db, input.serviceAccountId);
  return account?.kind === "service" ? ok(accountView(account)) : err(UNKNOWN);
}

/** Creates a service account; nobody makes one that may do more than they do. */
export async function createServiceAccount(
  deps: FeatureDeps,
  call: Call,
  { login, role, networkRoles = [] }: InputOf<typeof serviceAccountsContract.create>,
): Outcome<typeof serviceAccountsContract.create> {
  for (const wanted of [role, ...networkRoles.map((given) => given.role)]) {
    const refused = refuseStronger(call, wanted);
    if (refused) return err(refused);
  }
  const now = new Date(deps.clock.nowMs());
  const id = userIds.make(deps.random);
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const ids = networkRoles.map(({ networkId }) => networkId);
      if ((await existingNetworks(tx, ids)).size !== ids.length) return err({ code: "not_found", what: "network" });
      await insertUser(tx, { id, kind: "service", login, role, passwordHash: null, createdAt: now });
      await replaceNetworkRoles(tx, id, networkRoles);
      const account = await findUser(tx, id);
      if (!account) throw new Error("the account was just made");
      const view = accountView(account);
      const note = { action: "serviceAccounts.create", objectId: id, networkId: null };
      await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
      return ok(view);
    });
  return create().catch((error: unknown) => {
    if (isDuplicate(error, "users_login_unique")) return err({ code: "name_taken", name: login } as const);
    throw error;
  });
}

/** Stops its tokens. */
export async function disableServiceAccount(deps: FeatureDeps, call: Call, input: Named): Answer {
  const disabledAt = new Date(deps.clock.nowMs());
  return setDisabled(deps, call, { ...input, action: "serviceAccounts.disable", disabledAt });
}

/** Lets its tokens work again. */
export async function enableServiceAccount(deps: FeatureDeps, call: Call, input: Named): Answer {
  return setDisabled(deps, call, { ...input, action: "serviceAccounts.enable", disabledAt: null });
}

/** Removes a service account. */
export async function removeServiceAccount(
  deps: FeatureDeps,
  call: Call,
  { serviceAccountId }: Named,
): Outcome<typeof serviceAccountsContract.remove> {
  const removed = await changeAccount(deps, call, {
    id: serviceAccountId,
    kind: "service",
    action: "serviceAccounts.remove",
    endsOwner: () => false,
    async apply(tx) {
      await deleteUser(tx, serviceAccountId);
      return ok(undefined);
    },
  });
  return removed.ok ? ok(undefined) : removed;
}

/** Creates a token of a service account. */
export async function createServiceToken(
  deps: FeatureDeps,
  call: Call,
  { serviceAccountId, ...input }: InputOf<typeof serviceAccountsContract.createToken>,
): Outcome<typeof serviceAccountsContract.createToken> {
  return transact(deps.database.db, async (tx) => {
    const account = await findUser(tx, serviceAccountId);
    if (account?.kind !== "service") return err(UNKNOWN);
    const refused = refuseStrongerAccount(call, account);
    if (refused) return err(refused);
    const wanted = { ...input, kind: "svc", userId: account.id, action: "serviceAccounts.createToken" } as const;
    return issueToken(deps, tx, { call, wanted });
  });
}

async function setDisabled(
  deps: FeatureDeps,
  call: Call,
  { serviceAccountId: id, action, disabledAt }: Named & { readonly action: string; readonly disabledAt: Date | null },
): Answer {
  const changed = await changeAccount(deps, call, {
    id,
    kind: "service",
    action,
    endsOwner: () => false,
    async apply(tx) {
      await changeUser(tx, id, { disabledAt });
      return ok(undefined);
    },
  });
  if (!changed.ok) return changed;
  return changed.value ? ok(accountView(changed.value)) : err(UNKNOWN);
}

const UNKNOWN = { code: "not_found", what: "service account" } as const;
