import { and, eq, getTableColumns, gt, isNull, lt, or, sql } from "drizzle-orm";
import type { EnrolmentKeyId, GroupId, NetworkId } from "@weft/protocol";
import type { KeyApproval } from "../domain/peer-state.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { storedGroupId, storedKeyId, storedNetworkId } from "./rows.ts";
import { enrolmentKeys } from "./schema/index.ts";

export type EnrolmentKey = {
  readonly id: EnrolmentKeyId;
  readonly networkId: NetworkId;
  readonly name: string;
  readonly hint: string;
  readonly uses: number;
  readonly usesMax: number | null;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Groups of the peers that join with it, sorted. */
  readonly groupIds: readonly GroupId[];
  /** Peers that join with it are removed when they were away for so long; they stay when null. */
  readonly ephemeralSeconds: number | null;
  readonly approval: KeyApproval;
  readonly createdBy: string | null;
  readonly createdAt: Date;
};

export async function insertEnrolmentKey(tx: Executor, key: EnrolmentKey & { readonly hash: string }): Promise<void> {
  await tx.insert(enrolmentKeys).values({ ...key, groupIds: [...key.groupIds] });
}

export async function findEnrolmentKey(db: Executor, id: string): Promise<EnrolmentKey | undefined> {
  const [row] = await db.select().from(enrolmentKeys).where(eq(enrolmentKeys.id, id));
  return row && toKey(row);
}

export async function findEnrolmentKeyByHash(db: Executor, hash: string): Promise<EnrolmentKey | undefined> {
  const [row] = await db.select().from(enrolmentKeys).where(eq(enrolmentKeys.hash, hash));
  return row && toKey(row);
}

/**
 * Spends one use when the key is valid at this very moment; the row stays locked until the transaction ends.
 * False when it was revoked, expired or used up.
 */
export async function spendEnrolmentKey(tx: Executor, id: EnrolmentKeyId, now: Date): Promise<boolean> {
  const spent = await tx
    .update(enrolmentKeys)
    .set({ uses: sql`${enrolmentKeys.uses} + 1` })
    .where(
      and(
        eq(enrolmentKeys.id, id),
        isNull(enrolmentKeys.revokedAt),
        gt(enrolmentKeys.expiresAt, now),
        or(isNull(enrolmentKeys.usesMax), lt(enrolmentKeys.uses, enrolmentKeys.usesMax)),
      ),
    )
    .returning({ id: enrolmentKeys.id });
  return spent.length === 1;
}

export const enrolmentKeysList: ListTable = {
  table: enrolmentKeys,
  id: enrolmentKeys.id,
  fields: { createdAt: sortColumn(enrolmentKeys.createdAt), expiresAt: sortColumn(enrolmentKeys.expiresAt) },
  filters: { createdBy: equals(enrolmentKeys.createdBy) },
  search: [enrolmentKeys.hint, enrolmentKeys.name],
};

export async function listEnrolmentKeys(
  db: Executor,
  networkId: string,
  request: ListRequest,
): Promise<ListedPage<EnrolmentKey>> {
  const page = listPage(enrolmentKeysList, request, eq(enrolmentKeys.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(enrolmentKeys), listPlace: page.place })
    .from(enrolmentKeys)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toKey });
}

export async function revokeEnrolmentKey(tx: Executor, id: EnrolmentKeyId, now: Date): Promise<void> {
  await tx
    .update(enrolmentKeys)
    .set({ revokedAt: now })
    .where(and(eq(enrolmentKeys.id, id), isNull(enrolmentKeys.revokedAt)));
}

function toKey(row: typeof enrolmentKeys.$inferSelect): EnrolmentKey {
  const { hash: _hash, ...rest } = row;
  return {
    ...rest,
    id: storedKeyId(row.id),
    networkId: storedNetworkId(row.networkId),
    groupIds: row.groupIds.map(storedGroupId),
  };
}
