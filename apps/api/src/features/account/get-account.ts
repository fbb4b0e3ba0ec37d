import { err, ok } from "@weft/protocol";
import { countRecoveryCodes } from "../../db/recovery-codes-repository.ts";
import { findUser } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { accountContract } from "./contract.ts";

/** Shows the caller's own account. */
export async function getAccount(deps: FeatureDeps, { actor }: Call): Outcome<typeof accountContract.get> {
  const { db } = deps.database;
  const account = "userId" in actor ? await findUser(db, actor.userId) : undefined;
  if (!account) return err({ code: "not_authenticated", detail: "nobody is signed in" });
  return ok({ ...accountView(account), recoveryCodesLeft: await countRecoveryCodes(db, account.id) });
}
