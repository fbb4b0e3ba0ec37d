import { err } from "@weft/protocol";
import { listTokens as readTokens } from "../../db/tokens-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { tokenView } from "../../registry/issue-token.ts";
import { tokensSpec } from "./contract.ts";
import type { tokensContract } from "./contract.ts";
import { seesAllTokens } from "./sees-all-tokens.ts";

/** Lists tokens, newest first unless the caller wants another order. */
export async function listTokens(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof tokensContract.list>,
): Outcome<typeof tokensContract.list> {
  const { db } = deps.database;
  const { actor } = call;
  if (actor.kind !== "user" && actor.kind !== "token") {
    return err({ code: "not_authenticated", detail: "nobody is signed in" });
  }
  const userId = input.userId ?? (seesAllTokens(actor) ? undefined : actor.userId);
  if (userId !== actor.userId && !seesAllTokens(actor)) return err({ code: "not_found", what: "user" });
  const chosen = { ...input, userId };
  return answerList(deps, {
    spec: tokensSpec,
    scope: userId ?? "",
    input: chosen,
    read: (request) => readTokens(db, request),
    view: tokenView,
  });
}
