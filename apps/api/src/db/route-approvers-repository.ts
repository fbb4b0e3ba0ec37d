import { and, count, eq, getTableColumns } from "drizzle-orm";
import type { GroupId, NetworkId, Prefix, RouteApproverId } from "@weft/protocol";
import type { Executor } from "./client.ts";
import { keyset, pageOf } from "./paging.ts";
import type { Page, PageRequest } from "./paging.ts";
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

export async function pageOfApprovers(
  db: Executor,
  request: PageRequest<"createdAt"> & { readonly networkId: string },
): Promise<Page<StoredApprover>> {
  const page = keyset({ sort: routeApprovers.createdAt, id: routeApprovers.id }, request);
  const rows = await db
    .select(getTableColumns(routeApprovers))
    .from(routeApprovers)
    .where(and(eq(routeApprovers.networkId, request.networkId), page.where))
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return pageOf(rows.map(toApprover), request.limit, ({ id, createdAt }) => ({ value: createdAt.toISOString(), id }));
}

export async function countApprovers(db: Executor, networkId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(routeApprovers).where(eq(routeApprovers.networkId, networkId));
  return row?.total ?? 0;
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
