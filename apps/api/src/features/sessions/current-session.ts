import { err, ok } from "@weft/protocol";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { sessionsContract } from "./contract.ts";

/** Says who the caller is. */
export async function currentSession(_deps: FeatureDeps, call: Call): Outcome<typeof sessionsContract.current> {
  const { actor } = call;
  if (actor.kind !== "user" && actor.kind !== "token") {
    return err({ code: "not_authenticated", detail: "nobody is signed in" });
  }
  return ok({ user: { id: actor.userId, login: actor.login, role: actor.role } });
}
