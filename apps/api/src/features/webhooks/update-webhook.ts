import { err, ok } from "@weft/protocol";
import { transact } from "../../db/transact.ts";
import { changeWebhook, lockWebhook } from "../../db/webhooks-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { webhooksContract } from "./contract.ts";
import { webhookView } from "./webhook-view.ts";

/** Changes a webhook; what is left out stays. */
export async function updateWebhook(
  deps: FeatureDeps,
  call: Call,
  { webhookId, ...wanted }: InputOf<typeof webhooksContract.update>,
): Outcome<typeof webhooksContract.update> {
  const fault = wanted.url === undefined ? undefined : deps.webhooks.targetFault(wanted.url);
  if (fault !== undefined) return err({ code: "webhook_target_refused", detail: fault });
  return transact(deps.database.db, async (tx) => {
    const before = await lockWebhook(tx, webhookId);
    if (!before) return err({ code: "not_found", what: "webhook" });
    const fits = checkVersion(call, tagOf("webhook", webhookView(before)));
    if (!fits.ok) return fits;
    const settings = {
      name: wanted.name ?? before.name,
      url: wanted.url ?? before.url,
      actions: wanted.actions ?? before.actions,
      state: wanted.state ?? before.state,
    };
    const after = { ...before, ...settings };
    if (JSON.stringify(webhookView(before)) !== JSON.stringify(webhookView(after))) {
      await changeWebhook(tx, before.id, settings);
      const note = { action: "webhooks.update", objectId: before.id, networkId: null };
      const at = new Date(deps.clock.nowMs());
      await recordAudit(tx, call, { ...note, before: webhookView(before), after: webhookView(after), at });
    }
    return ok(webhookView(after));
  });
}
