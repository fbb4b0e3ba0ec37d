import type { RandomBytes } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { countDeliveries } from "../db/deliveries-repository.ts";
import type { FeatureDeps, WallClock } from "../registry/feature-deps.ts";
import { createDispatcher } from "./dispatcher.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { sendWebhook, targetFault } from "./send-webhook.ts";
import type { PrivateTargets } from "./send-webhook.ts";
import { webhookSecret } from "./signature.ts";

/** Webhooks of one server: what use cases need, and the work in the background. */
export type WebhookSide = FeatureDeps["webhooks"] &
  Pick<Dispatcher, "turn" | "dispose"> & { readonly counts: () => Promise<Readonly<Record<string, number>>> };

export function createWebhookSide(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
  readonly privateTargets: PrivateTargets;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}): WebhookSide {
  const { privateTargets } = deps;
  const secretOf: WebhookSide["secretOf"] = (webhook) => webhookSecret(deps.sign, webhook);
  const send = (request: Parameters<typeof sendWebhook>[0]) =>
    sendWebhook(request, { privateTargets, timeoutMs: ATTEMPT_MS });
  const dispatcher = createDispatcher({ ...deps, secretOf, send });
  return {
    ...dispatcher,
    secretOf,
    targetFault: (url) => targetFault(url, privateTargets),
    counts: () => countDeliveries(deps.db),
  };
}

/** As long as a receiver may take for its answer. */
const ATTEMPT_MS = 10_000;
