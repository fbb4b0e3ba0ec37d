import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Failure } from "../domain/failure.ts";
import { roleCovers, scopesCover } from "./access.ts";
import type { Access } from "./access.ts";
import type { Actor } from "./call.ts";

/** Decides whether an actor may call an operation; every surface asks here and nowhere else. */
export function authorise(access: Access, actor: Actor): Result<void, Failure> {
  switch (access.kind) {
    case "public":
      return ok(undefined);
    case "signed-in":
    case "role": {
      if (actor.kind === "anonymous" || actor.kind === "node") {
        return err({ code: "not_authenticated", detail: "sign in, or send a token as Authorization: Bearer" });
      }
      if (access.kind === "role" && !roleCovers(actor.role, access.role)) {
        return err({ code: "forbidden", detail: `this needs the role ${access.role}; you are ${actor.role}` });
      }
      if (actor.kind === "token" && !scopesCover(actor.scopes, access.scope)) {
        return err({ code: "scope_missing", scope: access.scope });
      }
      return ok(undefined);
    }
  }
}
