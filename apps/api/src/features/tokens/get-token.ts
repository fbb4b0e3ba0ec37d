import { err, ok } from "@weft/protocol";
import { findToken } from "../../db/tokens-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { tokenView } from "../../registry/issue-token.ts";
import type { tokensContract } from "./contract.ts";
import { seesAllTokens } from "./sees-all-tokens.ts";

/** Shows one token; one that the caller may not see is not there. */
export async function getToken(
  deps: FeatureDeps,
  { actor }: Call,
  { tokenId }: InputOf<typeof tokensContract.get>,
): Outcome<typeof tokensContract.get> {
  const token = await findToken(deps.database.db, tokenId);
  const isVisible = token && "userId" in actor && (token.userId === actor.userId || seesAllTokens(actor));
  return isVisible ? ok(tokenView(token)) : err({ code: "not_found", what: "token" });
}
