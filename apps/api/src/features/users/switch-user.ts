import { err, ok } from "@weft/protocol";
import { deleteRecoveryCodes } from "../../db/recovery-codes-repository.ts";
import { deleteSessionsOf } from "../../db/sessions-repository.ts";
import { changeUser, deleteUser } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import type { Call } from "../../registry/call.ts";
import { changeAccount } from "../../registry/change-account.ts";
import type { AccountChange } from "../../registry/change-account.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { usersContract } from "./contract.ts";

type Input = InputOf<typeof usersContract.disable>;
type Answer = Outcome<typeof usersContract.disable>;

/** Locks somebody out. Every credential is looked up together with this mark, so nothing outlives it. */
export async function disableUser(deps: FeatureDeps, call: Call, { userId }: Input): Answer {
  return change(deps, call, {
    id: userId,
    action: "users.disable",
    endsOwner: () => true,
    async apply(tx, account) {
      await deleteSessionsOf(tx, account.id);
      // The first moment counts: a second call changes nothing.
      if (account.disabledAt === null) await changeUser(tx, account.id, { disabledAt: new Date(deps.clock.nowMs()) });
      return ok(undefined);
    },
  });
}

/** Lets somebody back in; a newcomer is approved by it. */
export async function enableUser(deps: FeatureDeps, call: Call, { userId }: Input): Answer {
  const now = new Date(deps.clock.nowMs());
  return change(deps, call, {
    id: userId,
    action: "users.enable",
    endsOwner: () => false,
    async apply(tx, account) {
      await changeUser(tx, account.id, { approvedAt: account.approvedAt ?? now, disabledAt: null });
      return ok(undefined);
    },
  });
}

/** Takes the second factor off somebody else; whoever holds a session of the account has to sign in again. */
export async function resetMfa(deps: FeatureDeps, call: Call, { userId }: Input): Answer {
  if ("userId" in call.actor && call.actor.userId === userId) {
    const detail = "your own second factor goes with your password and a code, or a recovery code";
    return err({ code: "forbidden", detail });
  }
  return change(deps, call, {
    id: userId,
    action: "users.resetMfa",
    endsOwner: () => false,
    async apply(tx, account) {
      await deleteRecoveryCodes(tx, account.id);
      await changeUser(tx, account.id, { totpSince: null, totpSecret: null, totpLastStep: null });
      await deleteSessionsOf(tx, account.id);
      return ok(undefined);
    },
  });
}

/** Removes somebody with everything that let them in. */
export async function removeUser(
  deps: FeatureDeps,
  call: Call,
  { userId }: Input,
): Outcome<typeof usersContract.remove> {
  const removed = await changeAccount(deps, call, {
    id: userId,
    kind: "person",
    action: "users.remove",
    endsOwner: () => true,
    async apply(tx, account) {
      await deleteUser(tx, account.id);
      return ok(undefined);
    },
  });
  return removed.ok ? ok(undefined) : removed;
}

async function change(deps: FeatureDeps, call: Call, wanted: Omit<AccountChange, "kind">): Answer {
  const changed = await changeAccount(deps, call, { ...wanted, kind: "person" });
  if (!changed.ok) return changed;
  return changed.value ? ok(accountView(changed.value)) : err({ code: "not_found", what: "user" });
}
