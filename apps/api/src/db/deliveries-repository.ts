import { and, asc, count, eq, getTableColumns, inArray, lt, lte, notInArray, sql } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { webhookDeliveries, webhooks } from "./schema/index.ts";
import type { Webhook } from "./webhooks-repository.ts";

export type Delivery = typeof webhookDeliveries.$inferSelect;
/** A delivery that this server holds for one attempt. */
export type ClaimedDelivery = { readonly delivery: Delivery; readonly webhook: Webhook };

export const deliveriesList: ListTable = {
  table: webhookDeliveries,
  id: webhookDeliveries.id,
  fields: { createdAt: sortColumn(webhookDeliveries.createdAt) },
  filters: {
    state: equals(webhookDeliveries.state),
    eventId: equals(webhookDeliveries.eventId),
    action: equals(webhookDeliveries.action),
  },
  search: [webhookDeliveries.action, webhookDeliveries.lastError],
};

export async function listDeliveries(
  db: Executor,
  webhookId: string,
  request: ListRequest,
): Promise<ListedPage<Delivery>> {
  const page = listPage(deliveriesList, request, eq(webhookDeliveries.webhookId, webhookId));
  const rows = await db
    .select({ ...getTableColumns(webhookDeliveries), listPlace: page.place })
    .from(webhookDeliveries)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Delivery) => row });
}

export async function insertDeliveries(
  tx: Executor,
  deliveries: readonly (typeof webhookDeliveries.$inferInsert)[],
): Promise<void> {
  if (deliveries.length > 0) await tx.insert(webhookDeliveries).values([...deliveries]);
}

export async function findDelivery(db: Executor, id: string): Promise<Delivery | undefined> {
  const [row] = await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id));
  return row;
}

/**
 * Takes deliveries that are due, so that no other replica sends them at the same time: the next attempt moves behind a
 * lease, and a server that dies in between leaves them to the others when it ends.
 */
export async function claimDeliveries(
  db: Executor,
  wish: { readonly now: Date; readonly leaseUntil: Date; readonly max: number; readonly busy: readonly string[] },
): Promise<readonly ClaimedDelivery[]> {
  const due = and(eq(webhookDeliveries.state, "pending"), lte(webhookDeliveries.nextAttemptAt, wish.now));
  const isFree = wish.busy.length === 0 ? undefined : notInArray(webhookDeliveries.webhookId, [...wish.busy]);
  // Mostly nothing is due: then this is one look at an index and no write.
  const [any] = await db.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(and(due, isFree)).limit(1);
  return any ? take(db, { ...wish, which: and(due, isFree) }) : [];
}

/** Takes one delivery that waits, due or not. */
export async function claimDelivery(db: Executor, id: string, leaseUntil: Date): Promise<ClaimedDelivery | undefined> {
  const which = and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.state, "pending"));
  return (await take(db, { which, leaseUntil, max: 1 })).at(0);
}

async function take(
  db: Executor,
  wish: { readonly which: ReturnType<typeof and>; readonly leaseUntil: Date; readonly max: number },
): Promise<readonly ClaimedDelivery[]> {
  return db.transaction(async (tx) => {
    const found = await tx
      .select({ delivery: webhookDeliveries, webhook: webhooks })
      .from(webhookDeliveries)
      .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId))
      .where(and(wish.which, eq(webhooks.state, "on")))
      .orderBy(asc(webhookDeliveries.nextAttemptAt))
      .limit(wish.max)
      .for("update", { of: webhookDeliveries, skipLocked: true });
    const ids = found.map(({ delivery }) => delivery.id);
    if (ids.length === 0) return [];
    await tx
      .update(webhookDeliveries)
      .set({ attempts: sql`${webhookDeliveries.attempts} + 1`, nextAttemptAt: wish.leaseUntil })
      .where(inArray(webhookDeliveries.id, ids));
    return found.map(({ delivery, webhook }) => ({
      delivery: { ...delivery, attempts: delivery.attempts + 1 },
      webhook,
    }));
  });
}

/** Writes down how an attempt went. */
export async function noteAttempt(
  db: Executor,
  id: string,
  outcome: Pick<Delivery, "state" | "nextAttemptAt" | "lastStatus" | "lastError" | "finishedAt">,
): Promise<void> {
  await db.update(webhookDeliveries).set(outcome).where(eq(webhookDeliveries.id, id));
}

export async function deleteDeliveriesBefore(db: Executor, moment: Date): Promise<void> {
  await db.delete(webhookDeliveries).where(lt(webhookDeliveries.createdAt, moment));
}

/** How many deliveries are in each state. */
export async function countDeliveries(db: Executor): Promise<Readonly<Record<string, number>>> {
  const rows = await db
    .select({ state: webhookDeliveries.state, total: count() })
    .from(webhookDeliveries)
    .groupBy(webhookDeliveries.state);
  return { pending: 0, delivered: 0, failed: 0, ...Object.fromEntries(rows.map(({ state, total }) => [state, total])) };
}
