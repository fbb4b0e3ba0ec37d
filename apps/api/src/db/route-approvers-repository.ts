import { eq, getTableColumns, sql } from "drizzle-orm";
import type { GroupId, NetworkId, Prefix, RouteApproverId } from "@weft/protocol";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedGroupId, storedNetworkId, storedPrefix, storedRouteApproverId } from "./rows.ts";
import { routeApprovers } from "./schema/index.ts";

/** Routes of peers of a group into a range need nobody's approval. */
export type StoredApprover = {
  readonly id: RouteApproverId;
  readonly networkId: NetworkId;
  readonly groupId: GroupId;
  readonly prefix: Prefix;
  readonly createdAt: Date;
};

export async function insertApprover(tx: Executor, approver: StoredApprover): Promise<void> {
  await tx.insert(routeApprovers).values(approver);
}

export async function findApprover(db: Executor, id: string): Promise<StoredApprover | undefined> {
  const [row] = await db.select().from(routeApprovers).where(eq(routeApprovers.id, id));
  return row && toApprover(row);
}

/** All approvers of a network. */
export async function allApprovers(db: Executor, networkId: NetworkId): Promise<readonly StoredApprover[]> {
  return (await db.select().from(routeApprovers).where(eq(routeApprovers.networkId, networkId))).map(toApprover);
}

export const routeApproversList: ListTable = {
  table: routeApprovers,
  id: routeApprovers.id,
  fields: { createdAt: sortColumn(routeApprovers.createdAt) },
  filters: {},
  search: [sql`${routeApprovers.prefix}::text`],
};

export async function listApprovers(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<StoredApprover>> {
  const page = listPage(routeApproversList, request, eq(routeApprovers.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(routeApprovers), listPlace: page.place })
    .from(routeApprovers)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toApprover });
}

export async function deleteApprover(tx: Executor, id: RouteApproverId): Promise<void> {
  await tx.delete(routeApprovers).where(eq(routeApprovers.id, id));
}

function toApprover(row: typeof routeApprovers.$inferSelect): StoredApprover {
  return {
    id: storedRouteApproverId(row.id),
    networkId: storedNetworkId(row.networkId),
    groupId: storedGroupId(row.groupId),
    prefix: storedPrefix(row.prefix),
    createdAt: row.createdAt,
  };
}
