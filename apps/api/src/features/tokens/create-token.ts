import { err, makeToken, ok, tokenIds } from "@weft/protocol";
import { insertToken } from "../../db/tokens-repository.ts";
import { transact } from "../../db/transact.ts";
import { scopesCover } from "../../registry/access.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { hashSecret, hintOf } from "../../registry/secrets.ts";
import type { tokensContract } from "./contract.ts";
import { tokenView } from "./token-view.ts";

/** Creates a token that acts for its creator; a token can hand on only scopes that it has itself, and no longer life. */
export async function createToken(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof tokensContract.create>,
): Outcome<typeof tokensContract.create> {
  const { actor } = call;
  if (actor.kind !== "user" && actor.kind !== "token") {
    return err({ code: "not_authenticated", detail: "nobody is signed in" });
  }
  if (actor.kind === "token") {
    const missing = input.scopes.find((scope) => !scopesCover(actor.scopes, scope));
    if (missing) return err({ code: "scope_missing", scope: missing });
  }
  const now = new Date(deps.clock.nowMs());
  const secret = makeToken("pat", deps.random);
  const lifeMs = input.expiresInSeconds === undefined ? undefined : input.expiresInSeconds * 1_000;
  const wanted = lifeMs === undefined ? null : new Date(now.getTime() + lifeMs);
  const token = {
    id: tokenIds.make(deps.random),
    userId: actor.userId,
    name: input.name,
    hint: hintOf(secret.expose()),
    scopes: [...new Set(input.scopes)],
    createdAt: now,
    lastUsedAt: null,
    expiresAt: earlier(wanted, actor.kind === "token" ? actor.expiresAt : null),
  };
  return transact(deps.database.db, async (tx) => {
    await insertToken(tx, { ...token, hash: hashSecret(secret.expose()) });
    const note = { action: "tokens.create", objectId: token.id, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: tokenView(token), at: now });
    return ok({ ...tokenView(token), token: secret.expose() });
  });
}

/** `null` is never. */
function earlier(left: Date | null, right: Date | null): Date | null {
  if (!left || !right) return left ?? right;
  return left < right ? left : right;
}
