import type { RandomBytes, Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { claimDeliveries, claimDelivery, noteAttempt } from "../db/deliveries-repository.ts";
import type { ClaimedDelivery, Delivery } from "../db/deliveries-repository.ts";
import { nextAttempt } from "../domain/webhook-schedule.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { WebhookRequest } from "./send-webhook.ts";
import { signatureHeader } from "./signature.ts";

/** Sends what waits; one per server, and replicas share the work through the database. */
export type Dispatcher = {
  /** Takes what is due and sends it in the background. */
  readonly turn: () => Promise<void>;
  /** Tries one delivery now and waits for the outcome; nothing happens when another server has it. */
  readonly attempt: (deliveryId: string) => Promise<void>;
  /** Resolves when nothing is under way. */
  readonly dispose: () => Promise<void>;
};

export type DispatcherDeps = {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly random: RandomBytes;
  readonly secretOf: (webhook: { readonly id: string; readonly secretVersion: number }) => string;
  readonly send: (request: WebhookRequest) => Promise<Result<{ readonly status: number }, string>>;
  readonly version: string;
  readonly onError: (error: unknown) => void;
};

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, clock } = deps;
  const underWay = new Map<Promise<void>, string>();
  let isStopped = false;
  const begin = (claimed: ClaimedDelivery): Promise<void> => {
    const work = sendOnce(deps, claimed)
      .catch(deps.onError)
      .finally(() => underWay.delete(work));
    underWay.set(work, claimed.webhook.id);
    return work;
  };
  const leaseUntil = () => new Date(clock.nowMs() + LEASE_MS);
  return {
    async turn() {
      const max = UNDER_WAY_MAX - underWay.size;
      if (isStopped || max <= 0) return;
      const busy = busyOf([...underWay.values()]);
      const wish = { now: new Date(clock.nowMs()), leaseUntil: leaseUntil(), max, busy };
      for (const claimed of await claimDeliveries(db, wish)) void begin(claimed);
    },
    async attempt(deliveryId) {
      const claimed = await claimDelivery(db, deliveryId, leaseUntil());
      if (claimed) await begin(claimed);
    },
    async dispose() {
      isStopped = true;
      await Promise.all(underWay.keys());
    },
  };
}

/** A receiver that is slow gets no more at once, so that the others need not wait for it. */
function busyOf(webhookIds: readonly string[]): readonly string[] {
  return [...new Set(webhookIds)].filter((id) => webhookIds.filter((one) => one === id).length >= PER_WEBHOOK_MAX);
}

async function sendOnce(deps: DispatcherDeps, { delivery, webhook }: ClaimedDelivery): Promise<void> {
  const result = await deps.send({
    url: webhook.url,
    body: delivery.body,
    headers: {
      "content-type": "application/json",
      "user-agent": `weft/${deps.version}`,
      "weft-event-id": delivery.eventId,
      "weft-delivery-id": delivery.id,
      "weft-attempt": String(delivery.attempts),
      "weft-signature": signatureHeader(deps.secretOf(webhook), delivery.body, deps.clock.nowMs()),
    },
  });
  await noteAttempt(deps.db, delivery.id, outcomeOf(deps, delivery, result));
}

function outcomeOf(
  deps: DispatcherDeps,
  delivery: Delivery,
  result: Result<{ readonly status: number }, string>,
): Parameters<typeof noteAttempt>[2] {
  const nowMs = deps.clock.nowMs();
  const status = result.ok ? result.value.status : null;
  if (status !== null && status >= 200 && status < 300) {
    const done = { nextAttemptAt: null, lastStatus: status, lastError: null, finishedAt: new Date(nowMs) };
    return { state: "delivered", ...done };
  }
  const reason = result.ok ? refusal(result.value.status) : result.error;
  const chance = (deps.random(1)[0] ?? 0) / 255;
  const facts = { attempts: delivery.attempts, createdAtMs: delivery.createdAt.getTime() };
  const atMs = status === GONE ? null : nextAttempt(facts, nowMs, chance);
  return {
    state: atMs === null ? "failed" : "pending",
    nextAttemptAt: atMs === null ? null : new Date(atMs),
    lastStatus: status,
    lastError: reason,
    finishedAt: atMs === null ? new Date(nowMs) : null,
  };
}

function refusal(status: number): string {
  if (status >= 300 && status < 400)
    return `the receiver redirects (${status}); redirects are not followed, change the URL`;
  return `the receiver answered ${status}`;
}

/** The receiver says that it will never want this again. */
const GONE = 410;
/** Longer than an attempt may take. */
const LEASE_MS = 60_000;
const UNDER_WAY_MAX = 16;
const PER_WEBHOOK_MAX = 4;
