import { and, desc, eq, lte, sql } from "drizzle-orm";
import type { NetworkId } from "@weft/protocol";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedNetworkId } from "./rows.ts";
import { policyVersions } from "./schema/index.ts";

/** A policy that a network had at some time. */
export type PolicyVersion = {
  readonly networkId: NetworkId;
  /** 1, 2, 3 …; a network whose policy nobody touched has none. */
  readonly version: number;
  readonly document: unknown;
  readonly author: string | null;
  readonly at: Date;
};

export async function latestPolicy(db: Executor, networkId: string): Promise<PolicyVersion | undefined> {
  const [row] = await db
    .select()
    .from(policyVersions)
    .where(eq(policyVersions.networkId, networkId))
    .orderBy(desc(policyVersions.version))
    .limit(1);
  return row && toVersion(row);
}

export async function findPolicyVersion(
  db: Executor,
  networkId: string,
  version: number,
): Promise<PolicyVersion | undefined> {
  const [row] = await db
    .select()
    .from(policyVersions)
    .where(and(eq(policyVersions.networkId, networkId), eq(policyVersions.version, version)));
  return row && toVersion(row);
}

/** A policy that a network had, without what it said. */
export type PolicyVersionSummary = Omit<PolicyVersion, "document"> & { readonly ruleCount: number };

export const policyVersionsList: ListTable = {
  table: policyVersions,
  id: policyVersions.version,
  fields: { version: sortColumn(policyVersions.version) },
  filters: { author: equals(policyVersions.author) },
  search: [],
};

/** Documents are long: the database counts their rules. */
export async function listPolicyVersions(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<PolicyVersionSummary>> {
  const page = listPage(policyVersionsList, request, eq(policyVersions.networkId, networkId));
  const rows = await db
    .select({ ...summary, listPlace: page.place })
    .from(policyVersions)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, {
    rows,
    read: withNetwork<Omit<PolicyVersionSummary, "networkId"> & { networkId: string }>,
  });
}

/** Keeps a version, and of the older ones as many as fit. */
export async function insertPolicyVersion(
  tx: Executor,
  version: PolicyVersion,
  { keep }: { readonly keep: number },
): Promise<void> {
  await tx.insert(policyVersions).values(version);
  const { networkId } = version;
  const tooOld = lte(policyVersions.version, version.version - keep);
  await tx.delete(policyVersions).where(and(eq(policyVersions.networkId, networkId), tooOld));
}

function toVersion(row: typeof policyVersions.$inferSelect): PolicyVersion {
  return withNetwork(row);
}

function withNetwork<T extends { readonly networkId: string }>(row: T): T & { readonly networkId: NetworkId } {
  return { ...row, networkId: storedNetworkId(row.networkId) };
}

const summary = {
  networkId: policyVersions.networkId,
  version: policyVersions.version,
  author: policyVersions.author,
  at: policyVersions.at,
  ruleCount: sql<number>`jsonb_array_length(${policyVersions.document} -> 'rules')`,
};
