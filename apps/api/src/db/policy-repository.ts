import { and, count, desc, eq, lt, lte, sql } from "drizzle-orm";
import type { NetworkId } from "@weft/protocol";
import type { Executor } from "./client.ts";
import type { Page, PageRequest } from "./paging.ts";
import { pageOf } from "./paging.ts";
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

/** Newest first. Documents are long: the database counts their rules. */
export async function listPolicyVersions(
  db: Executor,
  request: Pick<PageRequest<"version">, "limit" | "after"> & { readonly networkId: string },
): Promise<Page<PolicyVersionSummary>> {
  const behind = request.after && lt(policyVersions.version, Number(request.after.value));
  const rows = await db
    .select(summary)
    .from(policyVersions)
    .where(and(eq(policyVersions.networkId, request.networkId), behind))
    .orderBy(desc(policyVersions.version))
    // One more than asked for tells whether another page follows.
    .limit(request.limit + 1);
  return pageOf(rows.map(withNetwork), request.limit, ({ version }) => ({ value: String(version), id: "" }));
}

export async function countPolicyVersions(db: Executor, networkId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(policyVersions).where(eq(policyVersions.networkId, networkId));
  return row?.total ?? 0;
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
