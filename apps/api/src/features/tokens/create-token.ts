import { err } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { findUser } from "../../db/users-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { issueToken } from "../../registry/issue-token.ts";
import type { tokensContract } from "./contract.ts";

/** Creates a token that acts for its creator. */
export async function createToken(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof tokensContract.create>,
): Outcome<typeof tokensContract.create> {
  const { actor } = call;
  if (actor.kind !== "user" && actor.kind !== "token") {
    return err({ code: "not_authenticated", detail: "nobody is signed in" });
  }
  return transact(deps.database.db, async (tx) => {
    const account = await findUser(tx, actor.userId);
    const kind = account?.kind === "service" ? "svc" : "pat";
    return issueToken(deps, tx, {
      call,
      wanted: { ...input, kind, userId: actor.userId, action: "tokens.create" },
    });
  });
}
