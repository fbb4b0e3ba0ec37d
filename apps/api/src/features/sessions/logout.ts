import { ok } from "@weft/protocol";
import { deleteSession } from "../../db/sessions-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { sessionsContract } from "./contract.ts";

/** Ends the caller's session; without one there is nothing to end. */
export async function logout(deps: FeatureDeps, call: Call): Outcome<typeof sessionsContract.logout> {
  call.sessionCookie.clear();
  const { actor } = call;
  if (actor.kind !== "user") return ok(undefined);
  return transact(deps.database.db, async (tx) => {
    await deleteSession(tx, actor.sessionId);
    await recordAudit(tx, call, {
      action: "sessions.logout",
      objectId: actor.userId,
      networkId: null,
      before: null,
      after: null,
      at: new Date(deps.clock.nowMs()),
    });
    return ok(undefined);
  });
}
