import type { Delivery } from "../../db/deliveries-repository.ts";
import type { Webhook } from "../../db/webhooks-repository.ts";

/** A webhook as callers see it; its secret is not part of it. */
export function webhookView({ id, name, url, actions, state, createdBy, createdAt }: Webhook) {
  return { id, name, url, actions: [...actions], state, createdBy, createdAt: createdAt.toISOString() };
}

/** A delivery as callers see it. */
export function deliveryView(delivery: Delivery) {
  const { id, webhookId, eventId, action, state, attempts, lastStatus, lastError } = delivery;
  return {
    id,
    webhookId,
    eventId,
    action,
    state,
    attempts,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    lastStatus,
    lastError,
    finishedAt: delivery.finishedAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
  };
}
