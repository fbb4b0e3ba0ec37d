import { deliveryIds, err, ok } from "@weft/protocol";
import { findDelivery, insertDeliveries } from "../../db/deliveries-repository.ts";
import { transact } from "../../db/transact.ts";
import { findWebhook } from "../../db/webhooks-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { eventBody } from "../../webhooks/event-body.ts";
import type { webhooksContract } from "./contract.ts";
import { deliveryView } from "./webhook-view.ts";

/** Sends the event of this very call to one webhook, whatever it listens to, and waits for the first attempt. */
export async function testWebhook(
  deps: FeatureDeps,
  call: Call,
  { webhookId }: InputOf<typeof webhooksContract.test>,
): Outcome<typeof webhooksContract.test> {
  const { db } = deps.database;
  const now = new Date(deps.clock.nowMs());
  const id = deliveryIds.make(deps.random);
  const queued = await transact(db, async (tx) => {
    const webhook = await findWebhook(tx, webhookId);
    if (!webhook) return err({ code: "not_found", what: "webhook" } as const);
    if (webhook.state === "off") return err({ code: "webhook_off" } as const);
    const note = { action: "webhooks.test", objectId: webhook.id, networkId: null, before: null, after: null, at: now };
    const event = await recordAudit(tx, call, { ...note, tell: "nobody" });
    const delivery = { id, webhookId: webhook.id, eventId: event.id, action: event.action, body: eventBody(event) };
    await insertDeliveries(tx, [{ ...delivery, createdAt: now, nextAttemptAt: now }]);
    return ok(undefined);
  });
  if (!queued.ok) return queued;
  await deps.webhooks.attempt(id);
  const delivery = await findDelivery(db, id);
  return delivery ? ok(deliveryView(delivery)) : err({ code: "not_found", what: "webhook" });
}
