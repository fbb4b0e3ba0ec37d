import { and, asc, count, eq, getTableColumns, sql } from "drizzle-orm";
import type { GroupId, NameRecord, NameRecordId, NameserverGroupId, NetworkId } from "@weft/protocol";
import { DEFAULT_NAME_SETTINGS, parseRecord, recordValue } from "../domain/names.ts";
import type { NameserverGroup, NameSettings, NetworkNames } from "../domain/names.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedEndpoint, storedGroupId, storedNameserversId, storedNetworkId, storedRecordId } from "./rows.ts";
import { nameRecords, nameserverGroups, nameSettings } from "./schema/index.ts";

export type StoredRecord = NameRecord & {
  readonly id: NameRecordId;
  readonly networkId: NetworkId;
  readonly description: string;
  readonly createdAt: Date;
};

export type StoredNameservers = NameserverGroup & {
  readonly networkId: NetworkId;
  readonly name: string;
  readonly description: string;
  readonly createdAt: Date;
};

export const recordsList: ListTable = {
  table: nameRecords,
  id: nameRecords.id,
  fields: { name: sortColumn(nameRecords.name), createdAt: sortColumn(nameRecords.createdAt) },
  filters: { type: equals(nameRecords.type) },
  search: [nameRecords.name, nameRecords.value, nameRecords.description],
};

export const nameserversList: ListTable = {
  table: nameserverGroups,
  id: nameserverGroups.id,
  fields: { name: sortColumn(nameserverGroups.name), createdAt: sortColumn(nameserverGroups.createdAt) },
  filters: { state: equals(nameserverGroups.state) },
  search: [nameserverGroups.name, nameserverGroups.description],
};

/** Everything that maps say of names. */
export async function readNames(tx: Executor, networkId: NetworkId): Promise<NetworkNames> {
  const records = await tx
    .select()
    .from(nameRecords)
    .where(eq(nameRecords.networkId, networkId))
    .orderBy(asc(nameRecords.createdAt), asc(nameRecords.id));
  const nameservers = await tx
    .select()
    .from(nameserverGroups)
    .where(eq(nameserverGroups.networkId, networkId))
    .orderBy(asc(nameserverGroups.createdAt), asc(nameserverGroups.id));
  return {
    settings: await readNameSettings(tx, networkId),
    records: records.map((row) => ({ id: storedRecordId(row.id), ...storedRecord(row) })),
    nameservers: nameservers.map(toNameservers),
  };
}

export async function readNameSettings(db: Executor, networkId: NetworkId): Promise<NameSettings> {
  const [row] = await db.select().from(nameSettings).where(eq(nameSettings.networkId, networkId));
  if (!row) return DEFAULT_NAME_SETTINGS;
  const { state, domain, searchDomains } = row;
  return { state, domain, searchDomains, leftAloneGroupIds: row.leftAloneGroupIds.map(storedGroupId) };
}

export async function writeNameSettings(tx: Executor, networkId: NetworkId, settings: NameSettings): Promise<void> {
  const columns = {
    ...settings,
    searchDomains: [...settings.searchDomains],
    leftAloneGroupIds: [...settings.leftAloneGroupIds],
  };
  await tx
    .insert(nameSettings)
    .values({ networkId, ...columns })
    .onConflictDoUpdate({ target: nameSettings.networkId, set: columns });
}

export async function listRecords(
  db: Executor,
  networkId: NetworkId,
  request: ListRequest,
): Promise<ListedPage<StoredRecord>> {
  const page = listPage(recordsList, request, eq(nameRecords.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(nameRecords), listPlace: page.place })
    .from(nameRecords)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toRecord });
}

export async function findRecord(db: Executor, id: string): Promise<StoredRecord | undefined> {
  const [row] = await db.select().from(nameRecords).where(eq(nameRecords.id, id));
  return row && toRecord(row);
}

export async function recordsNamed(db: Executor, networkId: NetworkId, name: string): Promise<readonly StoredRecord[]> {
  const rows = await db
    .select()
    .from(nameRecords)
    .where(and(eq(nameRecords.networkId, networkId), eq(nameRecords.name, name)));
  return rows.map(toRecord);
}

export async function countRecords(db: Executor, networkId: NetworkId): Promise<number> {
  const [row] = await db.select({ total: count() }).from(nameRecords).where(eq(nameRecords.networkId, networkId));
  return row?.total ?? 0;
}

/** Inserts a record, or puts it in place of the one with its id. */
export async function saveRecord(tx: Executor, record: StoredRecord): Promise<void> {
  const { name, type, ttlSeconds, description } = record;
  const columns = { name, type, value: recordValue(record), ttlSeconds, description };
  await tx
    .insert(nameRecords)
    .values({ id: record.id, networkId: record.networkId, createdAt: record.createdAt, ...columns })
    .onConflictDoUpdate({ target: nameRecords.id, set: columns });
}

export async function deleteRecord(tx: Executor, id: NameRecordId): Promise<void> {
  await tx.delete(nameRecords).where(eq(nameRecords.id, id));
}

export async function listNameservers(
  db: Executor,
  networkId: NetworkId,
  request: ListRequest,
): Promise<ListedPage<StoredNameservers>> {
  const page = listPage(nameserversList, request, eq(nameserverGroups.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(nameserverGroups), listPlace: page.place })
    .from(nameserverGroups)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toNameservers });
}

export async function findNameservers(db: Executor, id: string): Promise<StoredNameservers | undefined> {
  const [row] = await db.select().from(nameserverGroups).where(eq(nameserverGroups.id, id));
  return row && toNameservers(row);
}

export async function countNameservers(db: Executor, networkId: NetworkId): Promise<number> {
  const where = eq(nameserverGroups.networkId, networkId);
  const [row] = await db.select({ total: count() }).from(nameserverGroups).where(where);
  return row?.total ?? 0;
}

/** Nameserver groups that a group of peers uses. */
export async function nameserversOfGroup(db: Executor, groupId: GroupId): Promise<readonly StoredNameservers[]> {
  const uses = sql`${nameserverGroups.groupIds} @> array[${groupId}]::text[]`;
  return (await db.select().from(nameserverGroups).where(uses).orderBy(asc(nameserverGroups.id))).map(toNameservers);
}

/** Inserts a nameserver group, or puts it in place of the one with its id. */
export async function saveNameservers(tx: Executor, group: StoredNameservers): Promise<void> {
  const { name, description, state } = group;
  const lists = { servers: [...group.servers], domains: [...group.domains], groupIds: [...group.groupIds] };
  const columns = { name, description, state, ...lists };
  await tx
    .insert(nameserverGroups)
    .values({ id: group.id, networkId: group.networkId, createdAt: group.createdAt, ...columns })
    .onConflictDoUpdate({ target: nameserverGroups.id, set: columns });
}

export async function deleteNameservers(tx: Executor, id: NameserverGroupId): Promise<void> {
  await tx.delete(nameserverGroups).where(eq(nameserverGroups.id, id));
}

function toRecord(row: typeof nameRecords.$inferSelect): StoredRecord {
  const { description, createdAt } = row;
  return {
    id: storedRecordId(row.id),
    networkId: storedNetworkId(row.networkId),
    description,
    createdAt,
    ...storedRecord(row),
  };
}

function storedRecord(row: typeof nameRecords.$inferSelect): NameRecord {
  const record = parseRecord(row);
  if (record.ok) return record.value;
  throw new Error(`the database holds a record that was never written: ${row.id}`);
}

function toNameservers(row: typeof nameserverGroups.$inferSelect): StoredNameservers {
  return {
    ...row,
    id: storedNameserversId(row.id),
    networkId: storedNetworkId(row.networkId),
    servers: row.servers.map(storedEndpoint),
    groupIds: row.groupIds.map(storedGroupId),
  };
}
