import { err, ok } from "@weft/protocol";
import { findWebhook } from "../../db/webhooks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { webhooksContract } from "./contract.ts";
import { webhookView } from "./webhook-view.ts";

/** Shows one webhook. */
export async function getWebhook(
  deps: FeatureDeps,
  _call: Call,
  { webhookId }: InputOf<typeof webhooksContract.get>,
): Outcome<typeof webhooksContract.get> {
  const webhook = await findWebhook(deps.database.db, webhookId);
  return webhook ? ok(webhookView(webhook)) : err({ code: "not_found", what: "webhook" });
}
