import { and, count, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { GroupId, NetworkId, PeerId } from "@weft/protocol";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedGroupId, storedNetworkId, storedPeerId } from "./rows.ts";
import { enrolmentKeys, groups, peers } from "./schema/index.ts";

/** A name for a set of peers. */
export type Group = {
  readonly id: GroupId;
  readonly networkId: NetworkId;
  readonly name: string;
  readonly description: string;
  readonly createdAt: Date;
};

export type GroupWithCount = Group & { readonly peerCount: number };

export async function insertGroup(tx: Executor, group: Group): Promise<void> {
  await tx.insert(groups).values(group);
}

export async function findGroup(db: Executor, id: string): Promise<GroupWithCount | undefined> {
  const [row] = await db.select(withCount).from(groups).where(eq(groups.id, id));
  return row && toGroup(row);
}

export const groupsList: ListTable = {
  table: groups,
  id: groups.id,
  fields: { name: sortColumn(groups.name), createdAt: sortColumn(groups.createdAt) },
  filters: {},
  search: [groups.name],
};

export async function listGroups(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<GroupWithCount>> {
  const page = listPage(groupsList, request, eq(groups.networkId, networkId));
  const rows = await db
    .select({ ...withCount, listPlace: page.place })
    .from(groups)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toGroup });
}

export async function countGroups(db: Executor, networkId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(groups).where(eq(groups.networkId, networkId));
  return row?.total ?? 0;
}

/** Which of the ids are no groups of the network. */
export async function unknownGroups(
  db: Executor,
  networkId: NetworkId,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ id: groups.id })
    .from(groups)
    .where(and(eq(groups.networkId, networkId), inArray(groups.id, [...ids])));
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

export async function changeGroup(
  tx: Executor,
  id: GroupId,
  settings: Pick<Group, "name" | "description">,
): Promise<void> {
  await tx.update(groups).set(settings).where(eq(groups.id, id));
}

/** Deletes a group and takes it out of peers and keys; tells which peers belonged to it. The network is locked. */
export async function deleteGroup(tx: Executor, group: Group): Promise<readonly PeerId[]> {
  await tx.delete(groups).where(eq(groups.id, group.id));
  const inNetwork = (table: typeof peers | typeof enrolmentKeys) =>
    and(eq(table.networkId, group.networkId), sql`${table.groupIds} @> array[${group.id}]`);
  await tx
    .update(enrolmentKeys)
    .set({ groupIds: sql`array_remove(${enrolmentKeys.groupIds}, ${group.id})` })
    .where(inNetwork(enrolmentKeys));
  const left = await tx
    .update(peers)
    .set({ groupIds: sql`array_remove(${peers.groupIds}, ${group.id})` })
    .where(inNetwork(peers))
    .returning({ id: peers.id });
  return left.map(({ id }) => storedPeerId(id));
}

function toGroup(row: typeof groups.$inferSelect & { peerCount: number }): GroupWithCount {
  return { ...row, id: storedGroupId(row.id), networkId: storedNetworkId(row.networkId) };
}

const withCount = {
  ...getTableColumns(groups),
  // Drizzle leaves table names out where a query has one table; inside the subquery they are needed.
  peerCount: sql<number>`(select count(*)::int from ${peers} where "peers"."group_ids" @> array["groups"."id"])`,
};
