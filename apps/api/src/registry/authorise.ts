import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import type { Failure } from "../domain/failure.ts";
import { roleCovers, scopesCover, strongerRole } from "./access.ts";
import type { Access, Role } from "./access.ts";
import type { Actor } from "./call.ts";
import { networkOf } from "../db/network-of.ts";

/** Somebody who signed in, or a token that acts for them. */
export type Account = Extract<Actor, { readonly userId: string }>;

/** Decides whether an actor may call an operation; every surface asks here and nowhere else. */
export async function authorise(
  db: Executor,
  access: Access,
  { actor, input }: { readonly actor: Actor; readonly input: unknown },
): Promise<Result<void, Failure>> {
  if (access.kind === "public") return ok(undefined);
  if (actor.kind === "anonymous" || actor.kind === "node") {
    return err({ code: "not_authenticated", detail: "sign in, or send a token as Authorization: Bearer" });
  }
  if (access.kind === "role") {
    const refused = await checkRole(db, access, { actor, input });
    if (refused) return err(refused);
  }
  if (actor.kind === "token" && !scopesCover(actor.scopes, access.scope)) {
    return err({ code: "scope_missing", scope: access.scope });
  }
  return ok(undefined);
}

/** The role of the server, or the one of the network that the call is about where that is the stronger one. */
async function checkRole(
  db: Executor,
  access: Extract<Access, { readonly kind: "role" }>,
  { actor, input }: { readonly actor: Account; readonly input: unknown },
): Promise<Failure | undefined> {
  if (isEnough(access, actor, actor.role)) return undefined;
  // Whoever may see the whole server learns nothing from a look-up; for others it decides between 403 and 404.
  if (actor.role !== "none" && actor.networkRoles.length === 0) return tooWeak(access.role, actor.role);
  const network = await networkOf(db, input);
  switch (network.kind) {
    case "none": {
      const isMember = access.members === "too" && actor.networkRoles.length > 0;
      return isMember ? undefined : tooWeak(access.role, actor.role);
    }
    case "unknown":
      return actor.role === "none" ? { code: "not_found", what: "object" } : tooWeak(access.role, actor.role);
    case "known": {
      const given = actor.networkRoles.find(({ networkId }) => networkId === network.networkId)?.role ?? "none";
      const role = strongerRole(actor.role, given);
      if (isEnough(access, actor, role)) return undefined;
      return role === "none" ? { code: "not_found", what: "object" } : tooWeak(access.role, role);
    }
  }
}

function isEnough(access: Extract<Access, { readonly kind: "role" }>, actor: Account, role: Account["role"]): boolean {
  if (roleCovers(role, access.role)) return true;
  return access.grant !== undefined && role === "operator" && actor.grants.includes(access.grant);
}

function tooWeak(needed: Role, role: Account["role"]): Failure {
  return { code: "forbidden", detail: `this needs the role ${needed}; you are ${role}` };
}
