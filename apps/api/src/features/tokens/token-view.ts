import type { Token } from "../../db/tokens-repository.ts";
import { roleCovers } from "../../registry/access.ts";
import type { Actor } from "../../registry/call.ts";

/** A token as callers see it; the secret is not part of it. */
export function tokenView(token: Token) {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    scopes: [...token.scopes],
    createdBy: token.userId,
    createdAt: token.createdAt.toISOString(),
    lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
    expiresAt: token.expiresAt?.toISOString() ?? null,
  };
}

/** Administrators see the tokens of others. */
export function seesAllTokens(actor: Actor): boolean {
  return (actor.kind === "user" || actor.kind === "token") && roleCovers(actor.role, "admin");
}
