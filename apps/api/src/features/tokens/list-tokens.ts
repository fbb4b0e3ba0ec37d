import { err, ok } from "@weft/protocol";
import { countTokens, listTokens as readTokens } from "../../db/tokens-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import { tokenView } from "../../registry/issue-token.ts";
import type { tokensContract } from "./contract.ts";
import { seesAllTokens } from "./sees-all-tokens.ts";

/** Lists tokens, newest first. */
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
  const list = { name: `tokens?user=${userId ?? ""}`, sort: "-createdAt" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  const page = await readTokens(db, { ...request.value, userId });
  return ok({
    items: page.rows.map(tokenView),
    nextCursor: nextCursor(deps, list, page.next),
    ...(input.count && { total: await countTokens(db, userId) }),
  });
}
