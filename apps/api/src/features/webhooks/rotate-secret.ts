import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { changeWebhook, lockWebhook } from "../../db/webhooks-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { webhooksContract } from "./contract.ts";

/** Gives a webhook a new secret. */
export async function rotateSecret(
  deps: FeatureDeps,
  call: Call,
  { webhookId }: InputOf<typeof webhooksContract.rotateSecret>,
): Outcome<typeof webhooksContract.rotateSecret> {
  return transact(deps.database.db, async (tx) => {
    const before = await lockWebhook(tx, webhookId);
    if (!before) return err({ code: "not_found", what: "webhook" });
    const secretVersion = before.secretVersion + 1;
    await changeWebhook(tx, before.id, { secretVersion });
    await recordAudit(tx, call, {
      action: "webhooks.rotateSecret",
      objectId: before.id,
      networkId: null,
      before: { secretVersion: before.secretVersion },
      after: { secretVersion },
      at: new Date(deps.clock.nowMs()),
    });
    return ok({ id: before.id, secret: deps.webhooks.secretOf({ id: before.id, secretVersion }) });
  });
}
