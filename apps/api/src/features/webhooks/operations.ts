import type { HandlersOf } from "../../registry/handler.ts";
import type { webhooksContract } from "./contract.ts";
import { createWebhook } from "./create-webhook.ts";
import { getWebhook } from "./get-webhook.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listWebhooks } from "./list-webhooks.ts";
import { removeWebhook } from "./remove-webhook.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { testWebhook } from "./test-webhook.ts";
import { updateWebhook } from "./update-webhook.ts";

export const webhooksOperations: HandlersOf<typeof webhooksContract> = {
  list: listWebhooks,
  get: getWebhook,
  create: createWebhook,
  update: updateWebhook,
  rotateSecret,
  remove: removeWebhook,
  test: testWebhook,
  deliveries: listDeliveries,
};
