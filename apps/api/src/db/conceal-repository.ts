import { and, asc, desc, eq, getTableColumns } from "drizzle-orm";
import { concealProfileIds } from "@weft/protocol";
import type { ConcealProfileId, NetworkId } from "@weft/protocol";
import type { ConcealPlan } from "../domain/conceal-plan.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedNetworkId } from "./rows.ts";
import { concealProfiles, concealVersions, networks } from "./schema/index.ts";

/** How datagrams may be disguised in a network, under a name. */
export type StoredConceal = {
  readonly id: ConcealProfileId;
  readonly networkId: NetworkId;
  readonly name: string;
  readonly description: string;
  /** The newest version. */
  readonly version: number;
  readonly createdAt: Date;
};

export type ConcealVersion = {
  readonly version: number;
  /** Where it came from: a preset, or a file. */
  readonly origin: string;
  readonly settings: string;
  readonly createdAt: Date;
};

export async function insertConceal(tx: Executor, profile: StoredConceal, first: ConcealVersion): Promise<void> {
  await tx.insert(concealProfiles).values(profile);
  await addConcealVersion(tx, profile.id, first);
}

/** The profile itself is changed apart. */
export async function addConcealVersion(tx: Executor, id: ConcealProfileId, version: ConcealVersion): Promise<void> {
  await tx.insert(concealVersions).values({ profileId: id, ...version });
}

export async function findConceal(db: Executor, id: string): Promise<StoredConceal | undefined> {
  const [row] = await db.select().from(concealProfiles).where(eq(concealProfiles.id, id));
  return row && toConceal(row);
}

/** Newest first. */
export async function concealVersionsOf(db: Executor, id: ConcealProfileId): Promise<readonly ConcealVersion[]> {
  return db
    .select()
    .from(concealVersions)
    .where(eq(concealVersions.profileId, id))
    .orderBy(desc(concealVersions.version));
}

export async function findConcealVersion(
  db: Executor,
  id: ConcealProfileId,
  version: number,
): Promise<ConcealVersion | undefined> {
  const [row] = await db
    .select()
    .from(concealVersions)
    .where(and(eq(concealVersions.profileId, id), eq(concealVersions.version, version)))
    .orderBy(asc(concealVersions.version));
  return row;
}

export const concealList: ListTable = {
  table: concealProfiles,
  id: concealProfiles.id,
  fields: { name: sortColumn(concealProfiles.name) },
  filters: {},
  search: [],
};

export async function listConceal(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<StoredConceal>> {
  const page = listPage(concealList, request, eq(concealProfiles.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(concealProfiles), listPlace: page.place })
    .from(concealProfiles)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toConceal });
}

export async function changeConceal(
  tx: Executor,
  id: ConcealProfileId,
  settings: Pick<StoredConceal, "name" | "description" | "version">,
): Promise<void> {
  await tx.update(concealProfiles).set(settings).where(eq(concealProfiles.id, id));
}

export async function deleteConceal(tx: Executor, id: ConcealProfileId): Promise<void> {
  await tx.delete(concealProfiles).where(eq(concealProfiles.id, id));
}

/** Replaces the plan of a network, which is locked. */
export async function setConcealPlan(tx: Executor, id: NetworkId, plan: ConcealPlan): Promise<void> {
  await tx.update(networks).set({ conceal: plan }).where(eq(networks.id, id));
}

function toConceal(row: typeof concealProfiles.$inferSelect): StoredConceal {
  const id = concealProfileIds.parse(row.id);
  if (!id.ok) throw new Error("the database holds an id that was never written");
  return { ...row, id: id.value, networkId: storedNetworkId(row.networkId) };
}
