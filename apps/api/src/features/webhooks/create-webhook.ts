import { err, ok, webhookIds } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { insertWebhook } from "../../db/webhooks-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { webhooksContract } from "./contract.ts";
import { webhookView } from "./webhook-view.ts";

/** Creates a webhook; its secret leaves the server only in this answer. */
export async function createWebhook(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof webhooksContract.create>,
): Outcome<typeof webhooksContract.create> {
  const fault = deps.webhooks.targetFault(input.url);
  if (fault !== undefined) return err({ code: "webhook_target_refused", detail: fault });
  const now = new Date(deps.clock.nowMs());
  const createdBy = "userId" in call.actor ? call.actor.userId : null;
  const webhook = { ...input, id: webhookIds.make(deps.random), secretVersion: 1, createdBy, createdAt: now };
  return transact(deps.database.db, async (tx) => {
    await insertWebhook(tx, webhook);
    const view = webhookView(webhook);
    const note = { action: "webhooks.create", objectId: webhook.id, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
    return ok({ ...view, secret: deps.webhooks.secretOf(webhook) });
  });
}
