import { listWebhooks as readWebhooks } from "../../db/webhooks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { webhooksSpec } from "./contract.ts";
import type { webhooksContract } from "./contract.ts";
import { webhookView } from "./webhook-view.ts";

/** Lists webhooks. */
export async function listWebhooks(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof webhooksContract.list>,
): Outcome<typeof webhooksContract.list> {
  const read = (request: Parameters<typeof readWebhooks>[1]) => readWebhooks(deps.database.db, request);
  return answerList(deps, { spec: webhooksSpec, scope: "", input, read, view: webhookView });
}
