import { roleCovers } from "../../registry/access.ts";
import type { Actor } from "../../registry/call.ts";

/** Administrators see the tokens of others. */
export function seesAllTokens(actor: Actor): boolean {
  return "userId" in actor && roleCovers(actor.role, "admin");
}
