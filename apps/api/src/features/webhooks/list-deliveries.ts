import { err } from "@weft/protocol";
import { listDeliveries as readDeliveries } from "../../db/deliveries-repository.ts";
import { findWebhook } from "../../db/webhooks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { deliveriesSpec } from "./contract.ts";
import type { webhooksContract } from "./contract.ts";
import { deliveryView } from "./webhook-view.ts";

/** Lists what was sent to a webhook and what waits. */
export async function listDeliveries(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof webhooksContract.deliveries>,
): Outcome<typeof webhooksContract.deliveries> {
  const { db } = deps.database;
  const { webhookId } = input;
  if (!(await findWebhook(db, webhookId))) return err({ code: "not_found", what: "webhook" });
  return answerList(deps, {
    spec: deliveriesSpec,
    scope: webhookId,
    input,
    read: (request) => readDeliveries(db, webhookId, request),
    view: deliveryView,
  });
}
