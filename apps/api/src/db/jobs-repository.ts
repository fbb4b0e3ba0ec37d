import { and, count, desc, eq, getTableColumns, gt, inArray, isNotNull, lt, ne, sql } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { jobs } from "./schema/index.ts";

export type StoredJob = typeof jobs.$inferSelect;

export const jobsList: ListTable = {
  table: jobs,
  id: jobs.id,
  fields: { createdAt: sortColumn(jobs.createdAt) },
  filters: {
    kind: equals(jobs.kind),
    state: equals(jobs.state),
    peerId: equals(jobs.peerId),
    targetPeerId: equals(jobs.targetPeerId),
  },
  search: [],
};

/** Small results come with the list; large ones only with the job itself. */
const { result: _large, ...smallColumns } = getTableColumns(jobs);
const listedResult = sql<string | null>`case when ${jobs.resultBytes} <= ${sql.param(16_384)} then ${jobs.result} end`;

export async function listJobs(db: Executor, networkId: string, request: ListRequest): Promise<ListedPage<StoredJob>> {
  const page = listPage(jobsList, request, eq(jobs.networkId, networkId));
  const rows = await db
    .select({ ...smallColumns, result: listedResult, listPlace: page.place })
    .from(jobs)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: StoredJob) => row });
}

export async function findJob(db: Executor, id: string): Promise<StoredJob | undefined> {
  const [row] = await db.select().from(jobs).where(eq(jobs.id, id));
  return row;
}

export async function insertJob(tx: Executor, job: typeof jobs.$inferInsert): Promise<StoredJob | undefined> {
  const [row] = await tx.insert(jobs).values(job).returning();
  return row;
}

/** Changes a job that has not ended; `undefined` when it has. */
export async function changeJob(
  tx: Executor,
  id: string,
  change: Partial<Omit<StoredJob, "id" | "networkId" | "peerId" | "kind">>,
): Promise<StoredJob | undefined> {
  const [row] = await tx
    .update(jobs)
    .set(change)
    .where(and(eq(jobs.id, id), inArray(jobs.state, [...AT_WORK])))
    .returning();
  return row;
}

/** Says that the server that runs these jobs is alive; tells which of them somebody cancelled elsewhere, or ended. */
export async function renewLeases(
  db: Executor,
  ids: readonly string[],
  leaseUntil: Date,
): Promise<readonly Pick<StoredJob, "id" | "state" | "cancelAskedAt">[]> {
  if (ids.length === 0) return [];
  return db
    .update(jobs)
    .set({ leaseUntil })
    .where(inArray(jobs.id, [...ids]))
    .returning({ id: jobs.id, state: jobs.state, cancelAskedAt: jobs.cancelAskedAt });
}

/** Jobs whose server is gone. */
export async function lapsedJobs(db: Executor, now: Date): Promise<readonly Pick<StoredJob, "id">[]> {
  return db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.state, [...AT_WORK]), lt(jobs.leaseUntil, now)))
    .limit(LAPSED_AT_ONCE);
}

/** The newest finished job of the same kind between the same two peers, in the same direction. */
export async function previousJob(db: Executor, id: string): Promise<StoredJob | undefined> {
  const job = await findJob(db, id);
  if (!job || job.targetPeerId === null) return undefined;
  const pair = and(eq(jobs.peerId, job.peerId), eq(jobs.targetPeerId, job.targetPeerId), eq(jobs.kind, job.kind));
  const [row] = await db
    .select()
    .from(jobs)
    .where(and(pair, eq(jobs.state, "done"), ne(jobs.id, id)))
    .orderBy(desc(jobs.createdAt))
    .limit(1);
  return row;
}

/** Forgets old jobs, the oldest above a number per network, and large results that were kept long enough. */
export async function pruneJobs(
  db: Executor,
  keep: { readonly endedBefore: Date; readonly largeBefore: Date; readonly perNetwork: number },
): Promise<void> {
  await db.delete(jobs).where(and(isNotNull(jobs.endedAt), lt(jobs.createdAt, keep.endedBefore)));
  const isLarge = gt(jobs.resultBytes, LARGE_BYTES);
  await db
    .update(jobs)
    .set({ result: null })
    .where(and(isLarge, isNotNull(jobs.result), lt(jobs.createdAt, keep.largeBefore)));
  const full = await db
    .select({ networkId: jobs.networkId })
    .from(jobs)
    .groupBy(jobs.networkId)
    .having(gt(count(), keep.perNetwork));
  for (const { networkId } of full) await cutNetwork(db, networkId, keep.perNetwork);
}

/** Drops the results of a network's large reports but the newest few, so that asking often does not fill the disk. */
export async function dropLargeResults(db: Executor, networkId: string, kept: number): Promise<void> {
  const large = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.networkId, networkId), gt(jobs.resultBytes, LARGE_BYTES), isNotNull(jobs.result)))
    .orderBy(desc(jobs.createdAt))
    .offset(kept);
  await db.update(jobs).set({ result: null }).where(inArray(jobs.id, large));
}

async function cutNetwork(db: Executor, networkId: string, kept: number): Promise<void> {
  const old = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(eq(jobs.networkId, networkId))
    .orderBy(desc(jobs.createdAt), desc(jobs.id))
    .offset(kept);
  await db.delete(jobs).where(and(inArray(jobs.id, old), isNotNull(jobs.endedAt)));
}

const AT_WORK = ["queued", "running"] as const;
const LAPSED_AT_ONCE = 100;
const LARGE_BYTES = 65_536;
