import { ok } from "@weft/protocol";
import { deleteSessionsOf } from "../../db/sessions-repository.ts";
import { changeUser } from "../../db/users-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { accountContract } from "./contract.ts";
import { changeOwn } from "../../registry/own-account.ts";

/** Changes the password. Whoever held another session of the account has to know the new one. */
export async function changePassword(
  deps: FeatureDeps,
  call: Call,
  { currentPassword, newPassword }: InputOf<typeof accountContract.changePassword>,
): Outcome<typeof accountContract.changePassword> {
  return changeOwn(deps, call, {
    action: "account.changePassword",
    password: currentPassword,
    async apply(tx, { userId, sessionId }) {
      await changeUser(tx, userId, { passwordHash: await deps.passwords.hash(newPassword) });
      await deleteSessionsOf(tx, userId, sessionId);
      return ok(undefined);
    },
  });
}
