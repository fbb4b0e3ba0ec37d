import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { transact } from "../db/transact.ts";
import { findUser, lockUsers, otherOwnerExists } from "../db/users-repository.ts";
import type { Account } from "../db/users-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { roleCovers, strongerRole } from "./access.ts";
import type { ServerRole } from "./access.ts";
import { accountView } from "./account-view.ts";
import { recordAudit } from "./audit.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";

export type AccountChange = {
  readonly id: string;
  readonly kind: Account["kind"];
  /** Name of the audit event. */
  readonly action: string;
  /** True when an owner stops being one who can sign in with a password. */
  readonly endsOwner: (account: Account) => boolean;
  readonly apply: (tx: Executor, account: Account) => Promise<Result<void, Failure>>;
};

/** Changes one account under the rules of all such changes, and answers with it as it is then; `null` once it is gone. */
export function changeAccount(
  deps: FeatureDeps,
  call: Call,
  change: AccountChange,
): Promise<Result<Account | null, Failure>> {
  return transact(deps.database.db, async (tx) => {
    await lockUsers(tx);
    const before = await findUser(tx, change.id);
    if (!before || before.kind !== change.kind) return err({ code: "not_found", what: NOUNS[change.kind] });
    const refused = refuseStrongerAccount(call, before);
    if (refused) return err(refused);
    if (isSigningOwner(before) && change.endsOwner(before) && !(await otherOwnerExists(tx, before.id))) {
      return err({ code: "last_owner" });
    }
    const applied = await change.apply(tx, before);
    if (!applied.ok) return applied;
    const after = (await findUser(tx, change.id)) ?? null;
    await recordAudit(tx, call, {
      action: change.action,
      objectId: before.id,
      networkId: null,
      before: accountView(before),
      after: after && accountView(after),
      at: new Date(deps.clock.nowMs()),
    });
    return ok(after);
  });
}

/** Nobody gives or touches rights that are above their own. */
export function refuseStronger({ actor }: Pick<Call, "actor">, role: ServerRole): Failure | undefined {
  if ("userId" in actor && roleCovers(actor.role, role)) return undefined;
  return { code: "forbidden", detail: `only somebody with the role ${role} may do this` };
}

/** The same for an account: roles that it has in single networks count as well. */
export function refuseStrongerAccount(
  { actor }: Pick<Call, "actor">,
  { role, networkRoles }: Pick<Account, "role" | "networkRoles">,
): Failure | undefined {
  const refused = refuseStronger({ actor }, role);
  if (refused || !("userId" in actor)) return refused;
  const own = new Map(actor.networkRoles.map((given) => [given.networkId, given.role]));
  const above = networkRoles.find(
    (given) => !roleCovers(strongerRole(actor.role, own.get(given.networkId) ?? "none"), given.role),
  );
  if (!above) return undefined;
  return { code: "forbidden", detail: `only somebody with the role ${above.role} in ${above.networkId} may do this` };
}

function isSigningOwner(account: Account): boolean {
  return account.kind === "person" && account.role === "owner" && account.disabledAt === null && account.hasPassword;
}

const NOUNS = { person: "user", service: "service account" } as const;
