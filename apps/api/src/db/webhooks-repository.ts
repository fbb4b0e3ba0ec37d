import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { webhooks } from "./schema/index.ts";

export type Webhook = typeof webhooks.$inferSelect;

export const webhooksList: ListTable = {
  table: webhooks,
  id: webhooks.id,
  fields: { createdAt: sortColumn(webhooks.createdAt), name: sortColumn(webhooks.name) },
  filters: { state: equals(webhooks.state) },
  search: [webhooks.name, webhooks.url],
};

export async function listWebhooks(db: Executor, request: ListRequest): Promise<ListedPage<Webhook>> {
  const page = listPage(webhooksList, request);
  const rows = await db
    .select({ ...getTableColumns(webhooks), listPlace: page.place })
    .from(webhooks)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Webhook) => row });
}

export async function findWebhook(db: Executor, id: string): Promise<Webhook | undefined> {
  const [row] = await db.select().from(webhooks).where(eq(webhooks.id, id));
  return row;
}

/** Makes changes of one webhook wait for each other. */
export async function lockWebhook(tx: Executor, id: string): Promise<Webhook | undefined> {
  const [row] = await tx.select().from(webhooks).where(eq(webhooks.id, id)).for("update");
  return row;
}

export async function insertWebhook(tx: Executor, webhook: Webhook): Promise<void> {
  await tx.insert(webhooks).values(webhook);
}

export async function changeWebhook(
  tx: Executor,
  id: string,
  settings: Partial<Pick<Webhook, "name" | "url" | "actions" | "state" | "secretVersion">>,
): Promise<void> {
  await tx.update(webhooks).set(settings).where(eq(webhooks.id, id));
}

export async function deleteWebhook(tx: Executor, id: string): Promise<void> {
  await tx.delete(webhooks).where(eq(webhooks.id, id));
}

/** Webhooks that want to hear of an action. */
export async function webhooksFor(db: Executor, action: string): Promise<readonly string[]> {
  const everyOfNoun = `${action.split(".", 1)[0] ?? ""}.*`;
  const rows = await db
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(
      and(
        eq(webhooks.state, "on"),
        sql`(cardinality(${webhooks.actions}) = 0 or ${webhooks.actions} && array[${action}, ${everyOfNoun}]::text[])`,
      ),
    );
  return rows.map(({ id }) => id);
}
