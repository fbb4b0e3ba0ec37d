import { and, eq, getTableColumns, inArray, notInArray, sql } from "drizzle-orm";
import type { NetworkId } from "@weft/protocol";
import type { Route } from "../domain/route.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedNetworkId, storedPeerId, storedPrefix, storedRouteId } from "./rows.ts";
import { routes } from "./schema/index.ts";

export type StoredRoute = Route & {
  readonly networkId: NetworkId;
  readonly description: string;
  readonly createdAt: Date;
};

export async function insertRoute(tx: Executor, route: StoredRoute): Promise<void> {
  await tx.insert(routes).values(route);
}

export async function findRoute(db: Executor, id: string): Promise<StoredRoute | undefined> {
  const [row] = await db.select().from(routes).where(eq(routes.id, id));
  return row && toRoute(row);
}

/** All routes of a network. */
export async function allRoutes(db: Executor, networkId: NetworkId): Promise<readonly StoredRoute[]> {
  return (await db.select().from(routes).where(eq(routes.networkId, networkId))).map(toRoute);
}

export const routesList: ListTable = {
  table: routes,
  id: routes.id,
  fields: { createdAt: sortColumn(routes.createdAt) },
  filters: { peerId: equals(routes.peerId), state: equals(routes.state) },
  search: [sql`${routes.prefix}::text`, routes.description],
};

export async function listRoutes(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<StoredRoute>> {
  const page = listPage(routesList, request, eq(routes.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(routes), listPlace: page.place })
    .from(routes)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toRoute });
}

export async function changeRoute(
  tx: Executor,
  id: Route["id"],
  settings: Partial<Pick<StoredRoute, "state" | "description" | "masquerade" | "priority">>,
): Promise<void> {
  await tx.update(routes).set(settings).where(eq(routes.id, id));
}

/** Makes exactly these routes of a network the ones in use. */
export async function activateRoutes(tx: Executor, networkId: NetworkId, ids: readonly Route["id"][]): Promise<void> {
  const others = ids.length === 0 ? undefined : notInArray(routes.id, [...ids]);
  await tx
    .update(routes)
    .set({ active: false })
    .where(and(eq(routes.networkId, networkId), others));
  if (ids.length === 0) return;
  await tx
    .update(routes)
    .set({ active: true })
    .where(inArray(routes.id, [...ids]));
}

export async function deleteRoute(tx: Executor, id: Route["id"]): Promise<void> {
  await tx.delete(routes).where(eq(routes.id, id));
}

function toRoute(row: typeof routes.$inferSelect): StoredRoute {
  return {
    ...row,
    id: storedRouteId(row.id),
    networkId: storedNetworkId(row.networkId),
    peerId: storedPeerId(row.peerId),
    prefix: storedPrefix(row.prefix),
  };
}
