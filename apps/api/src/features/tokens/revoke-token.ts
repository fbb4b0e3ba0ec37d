import { err, ok } from "@weft/protocol";
import { deleteToken, findToken } from "../../db/tokens-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { tokenView } from "../../registry/issue-token.ts";
import type { tokensContract } from "./contract.ts";
import { seesAllTokens } from "./sees-all-tokens.ts";

/** Revokes a token; somebody else's only for administrators, for others it does not exist. */
export async function revokeToken(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof tokensContract.revoke>,
): Outcome<typeof tokensContract.revoke> {
  const { actor } = call;
  return transact(deps.database.db, async (tx) => {
    const token = await findToken(tx, input.tokenId);
    const isOwn = token !== undefined && "userId" in actor && actor.userId === token.userId;
    if (!token || (!isOwn && !seesAllTokens(actor))) return err({ code: "not_found", what: "token" });
    await deleteToken(tx, token.id);
    await recordAudit(tx, call, {
      action: "tokens.revoke",
      objectId: token.id,
      networkId: null,
      before: tokenView(token),
      after: null,
      at: new Date(deps.clock.nowMs()),
    });
    return ok(undefined);
  });
}
