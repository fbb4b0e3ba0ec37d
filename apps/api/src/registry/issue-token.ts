import { err, makeToken, ok, tokenIds } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { z } from "zod";
import type { Executor } from "../db/client.ts";
import { countTokens, insertToken } from "../db/tokens-repository.ts";
import type { Token } from "../db/tokens-repository.ts";
import { lockCredentials } from "../db/users-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { scopesCover } from "./access.ts";
import type { Scope } from "./access.ts";
import { recordAudit } from "./audit.ts";
import type { Actor, Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { TOKENS_MAX } from "./limits.ts";
import { hashSecret, hintOf } from "./secrets.ts";
import type { ShownTokenSchema, TokenSchema } from "./token-schemas.ts";

export type WantedToken = {
  readonly kind: "pat" | "svc";
  /** Whose rights it has. */
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresInSeconds?: number | undefined;
  /** Name of the audit event. */
  readonly action: string;
};

/** Makes a token; a token can hand on only scopes that it has itself, and no longer life. */
export async function issueToken(
  deps: Pick<FeatureDeps, "clock" | "random">,
  tx: Executor,
  { call, wanted }: { readonly call: Call; readonly wanted: WantedToken },
): Promise<Result<z.input<typeof ShownTokenSchema>, Failure>> {
  const { actor } = call;
  const missing = missingScope(actor, wanted.scopes);
  if (missing) return err({ code: "scope_missing", scope: missing });
  // Two that ask for the last place at once come one after the other.
  await lockCredentials(tx, wanted.userId);
  if ((await countTokens(tx, wanted.userId)) >= TOKENS_MAX) {
    return err({ code: "limit_reached", what: "tokens of this account", limit: TOKENS_MAX });
  }
  const now = new Date(deps.clock.nowMs());
  const secret = makeToken(wanted.kind, deps.random);
  const { expiresInSeconds } = wanted;
  const wish = expiresInSeconds === undefined ? null : new Date(now.getTime() + expiresInSeconds * 1_000);
  const token = {
    id: tokenIds.make(deps.random),
    userId: wanted.userId,
    createdBy: "userId" in actor ? actor.userId : null,
    name: wanted.name,
    hint: hintOf(secret.expose()),
    scopes: [...new Set(wanted.scopes)],
    createdAt: now,
    lastUsedAt: null,
    expiresAt: earlier(wish, actor.kind === "token" ? actor.expiresAt : null),
  };
  await insertToken(tx, { ...token, hash: hashSecret(secret.expose()) });
  const view = tokenView(token);
  const note = { action: wanted.action, objectId: token.id, networkId: null };
  await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
  return ok({ ...view, token: secret.expose() });
}

/** A token as callers see it; the secret is not part of it. */
export function tokenView(token: Token): z.input<typeof TokenSchema> {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    scopes: [...token.scopes],
    userId: token.userId,
    createdBy: token.createdBy,
    createdAt: token.createdAt.toISOString(),
    lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
    expiresAt: token.expiresAt?.toISOString() ?? null,
  };
}

function missingScope(actor: Actor, wanted: readonly Scope[]): Scope | undefined {
  return actor.kind === "token" ? wanted.find((scope) => !scopesCover(actor.scopes, scope)) : undefined;
}

/** `null` is never. */
function earlier(left: Date | null, right: Date | null): Date | null {
  if (!left || !right) return left ?? right;
  return left < right ? left : right;
}
