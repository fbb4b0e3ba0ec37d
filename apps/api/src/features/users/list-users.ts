import { err, ok } from "@weft/protocol";
import { findUser } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { listAccounts } from "../../registry/list-accounts.ts";
import type { usersContract } from "./contract.ts";

/** Lists people. */
export async function listUsers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof usersContract.list>,
): Outcome<typeof usersContract.list> {
  return listAccounts(deps, "person", input);
}

/** Shows one person. */
export async function getUser(
  deps: FeatureDeps,
  _call: Call,
  { userId }: InputOf<typeof usersContract.get>,
): Outcome<typeof usersContract.get> {
  const user = await findUser(deps.database.db, userId);
  if (!user || user.kind !== "person") return err({ code: "not_found", what: "user" });
  return ok(accountView(user));
}
