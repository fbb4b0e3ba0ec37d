import { eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { NetworkId, PeerId } from "@weft/protocol";
import type { Network } from "../domain/peer.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { networkFromRow } from "./rows.ts";
import { networkChanges, networks, peers } from "./schema/index.ts";

export type NetworkWithCount = Network & { readonly peerCount: number };

/** What a change of a network's maps was about. */
export type NetworkChange =
  | { readonly kind: "peer"; readonly peerId: PeerId }
  | { readonly kind: "rules" }
  | { readonly kind: "network" }
  | { readonly kind: "names" };

/** Channel on which replicas tell each other that a network has a new sequence. */
export const CHANGES_CHANNEL = "weft_changes";

export async function findNetwork(db: Executor, id: string): Promise<NetworkWithCount | undefined> {
  const [row] = await db.select(withCount).from(networks).where(eq(networks.id, id));
  return row && toNetwork(row);
}

export const networksList: ListTable = {
  table: networks,
  id: networks.id,
  fields: { name: sortColumn(networks.name), createdAt: sortColumn(networks.createdAt) },
  filters: { name: (name) => eq(sql`lower(${networks.name})`, String(name).toLowerCase()) },
  search: [networks.name],
};

/** `only`: networks that the caller may see, where that is not all of them. */
export async function listNetworks(
  db: Executor,
  only: readonly string[] | undefined,
  request: ListRequest,
): Promise<ListedPage<NetworkWithCount>> {
  const page = listPage(networksList, request, only === undefined ? undefined : inArray(networks.id, [...only]));
  const rows = await db
    .select({ ...withCount, listPlace: page.place })
    .from(networks)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toNetwork });
}

/** Those of `ids` that exist. */
export async function existingNetworks(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .select({ id: networks.id })
    .from(networks)
    .where(inArray(networks.id, [...ids]));
  return new Set(rows.map(({ id }) => id));
}

/** Every network, without counts; for proposals and for loading the live state. */
export async function allNetworks(db: Executor): Promise<readonly Network[]> {
  return (await db.select().from(networks)).map(networkFromRow);
}

/** Makes the creation of networks wait for each other, so that ranges can be compared. */
export async function lockNetworkCreation(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${CREATION_LOCK})`);
}

/** Makes changes of one network wait for each other; take it before anything else in the transaction. */
export async function lockNetwork(tx: Executor, id: string): Promise<Network | undefined> {
  const [row] = await tx.select().from(networks).where(eq(networks.id, id)).for("update");
  return row && networkFromRow(row);
}

export async function insertNetwork(tx: Executor, network: Network): Promise<void> {
  await tx.insert(networks).values(network);
}

/** What may change about a network. */
export type NetworkSettings = Pick<
  Network,
  | "name"
  | "profileFallback"
  | "approval"
  | "membershipSeconds"
  | "idleRemovalSeconds"
  | "flowSampling"
  | "flowKeepHours"
>;

/** Changes what may change about a network. */
export async function changeNetwork(tx: Executor, id: NetworkId, settings: NetworkSettings): Promise<void> {
  await tx.update(networks).set(settings).where(eq(networks.id, id));
}

export async function deleteNetwork(tx: Executor, id: NetworkId): Promise<void> {
  await tx.delete(networks).where(eq(networks.id, id));
  await notifyReplicas(tx, id);
}

/** Gives changes their sequences and tells every replica at commit. */
export async function publishChanges(
  tx: Executor,
  networkId: NetworkId,
  { changes, at }: { readonly changes: readonly NetworkChange[]; readonly at: Date },
): Promise<bigint> {
  const [row] = await tx
    .update(networks)
    .set({ sequence: sql`${networks.sequence} + ${changes.length}` })
    .where(eq(networks.id, networkId))
    .returning({ sequence: networks.sequence });
  if (!row) throw new Error(`network ${networkId} was locked by this transaction and is gone`);
  const before = row.sequence - BigInt(changes.length);
  await tx.insert(networkChanges).values(
    changes.map((change, place) => ({
      networkId,
      sequence: before + BigInt(place + 1),
      kind: change.kind,
      peerId: change.kind === "peer" ? change.peerId : null,
      at,
    })),
  );
  await notifyReplicas(tx, networkId);
  return row.sequence;
}

/** Starts a new history: agents that know the old one are sent a whole map. */
export async function renewEpoch(tx: Executor, networkId: NetworkId, epoch: bigint): Promise<void> {
  await tx.update(networks).set({ epoch }).where(eq(networks.id, networkId));
  await notifyReplicas(tx, networkId);
}

async function notifyReplicas(tx: Executor, networkId: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${CHANGES_CHANNEL}, ${networkId})`);
}

function toNetwork(row: typeof networks.$inferSelect & { peerCount: number }): NetworkWithCount {
  return { ...networkFromRow(row), peerCount: row.peerCount };
}

const withCount = {
  ...getTableColumns(networks),
  // Drizzle leaves table names out where a query has one table; inside the subquery they are needed.
  peerCount: sql<number>`(select count(*)::int from ${peers} where "peers"."network_id" = "networks"."id")`,
};

const CREATION_LOCK = 2_003_134_069;
