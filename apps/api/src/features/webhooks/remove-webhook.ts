import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { deleteWebhook, lockWebhook } from "../../db/webhooks-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { webhooksContract } from "./contract.ts";
import { webhookView } from "./webhook-view.ts";

/** Removes a webhook with its log. */
export async function removeWebhook(
  deps: FeatureDeps,
  call: Call,
  { webhookId }: InputOf<typeof webhooksContract.remove>,
): Outcome<typeof webhooksContract.remove> {
  return transact(deps.database.db, async (tx) => {
    const before = await lockWebhook(tx, webhookId);
    if (!before) return err({ code: "not_found", what: "webhook" });
    const fits = checkVersion(call, tagOf("webhook", webhookView(before)));
    if (!fits.ok) return fits;
    await deleteWebhook(tx, before.id);
    const note = { action: "webhooks.remove", objectId: before.id, networkId: null };
    const at = new Date(deps.clock.nowMs());
    await recordAudit(tx, call, { ...note, before: webhookView(before), after: null, at });
    return ok(undefined);
  });
}
