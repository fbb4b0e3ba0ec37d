import { and, eq, getTableColumns, inArray, isNotNull, like, lte, notExists, or, sql } from "drizzle-orm";
import type { IdentityKey, NetworkId, PeerId } from "@weft/protocol";
import type { Peer, PeerEndpoint } from "../domain/peer.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { peerFromRow, storedGroupId, storedNetworkId, storedPeerId } from "./rows.ts";
import { textArray } from "./rows-of-text.ts";
import { peers, releasedOffsets, routes } from "./schema/index.ts";

export async function findPeer(db: Executor, id: string): Promise<Peer | undefined> {
  const [row] = await db.select().from(peers).where(eq(peers.id, id));
  return row && peerFromRow(row);
}

/** Those of the ids that are peers of the network, as far as rules tell peers apart. */
export async function peersNamed(
  db: Executor,
  networkId: NetworkId,
  ids: readonly string[],
): Promise<readonly Pick<Peer, "id" | "groupIds">[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ id: peers.id, groupIds: peers.groupIds })
    .from(peers)
    .where(and(eq(peers.networkId, networkId), inArray(peers.id, [...ids])));
  return rows.map((row) => ({ id: storedPeerId(row.id), groupIds: row.groupIds.map(storedGroupId) }));
}

export async function findPeerByIdentity(db: Executor, key: IdentityKey): Promise<Peer | undefined> {
  const [row] = await db.select().from(peers).where(eq(peers.identityKey, key));
  return row && peerFromRow(row);
}

export const peersList: ListTable = {
  table: peers,
  id: peers.id,
  fields: { name: sortColumn(peers.name), createdAt: sortColumn(peers.createdAt) },
  filters: {
    name: equals(peers.name),
    state: equals(peers.state),
    agentVersion: equals(peers.agentVersion),
    kind: equals(peers.kind),
    groupId: (id) => sql`${peers.groupIds} @> array[${id}]::text[]`,
  },
  search: [peers.name, peers.hostname, sql`host(${peers.ipv4})`, sql`host(${peers.ipv6})`],
};

/** Peers as they stand in the list of who runs which conceal profile. */
export const concealNodesList: ListTable = {
  table: peers,
  id: peers.id,
  fields: { name: sortColumn(peers.name) },
  filters: {},
  search: [],
};

export async function listPeers(db: Executor, networkId: string, request: ListRequest): Promise<ListedPage<Peer>> {
  const page = listPage(peersList, request, eq(peers.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(peers), listPlace: page.place })
    .from(peers)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: peerFromRow });
}

export async function insertPeer(tx: Executor, peer: Peer): Promise<void> {
  await tx.insert(peers).values({
    ...peer,
    capabilities: [...peer.capabilities],
    endpoints: [...peer.endpoints],
    groupIds: [...peer.groupIds],
    routes: [...peer.routes],
  });
}

/** Changes what callers may change about a peer. */
export async function changePeer(
  tx: Executor,
  id: PeerId,
  { groupIds, ...settings }: Partial<Pick<Peer, "name" | "state" | "expiresAt" | "groupIds">>,
): Promise<void> {
  const columns = { ...settings, ...(groupIds && { groupIds: [...groupIds] }) };
  await tx.update(peers).set(columns).where(eq(peers.id, id));
}

/** What maps say of the ranges behind a peer: to others, and to itself. */
export async function setPeerRoutes(tx: Executor, id: PeerId, own: Pick<Peer, "routes" | "serves">): Promise<void> {
  await tx
    .update(peers)
    .set({ routes: [...own.routes], serves: [...own.serves] })
    .where(eq(peers.id, id));
}

/** Through whom a peer's other traffic leaves. */
export async function setExitChoice(tx: Executor, id: PeerId, exitChoice: Peer["exitChoice"]): Promise<void> {
  await tx.update(peers).set({ exitChoice }).where(eq(peers.id, id));
}

/** A peer that has routes, and since when and until when it counts as answering. */
export type RoutedPeer = Pick<Peer, "id" | "routes" | "serves"> & {
  readonly upSince: Date | null;
  readonly upUntil: Date | null;
};

/** Peers of a network that have or had routes. */
export async function routedPeers(tx: Executor, networkId: NetworkId): Promise<readonly RoutedPeer[]> {
  const hasRows = sql`exists (select from ${routes} where ${routes.peerId} = ${peers.id})`;
  const hadSome = sql`cardinality(${peers.routes}) > 0 or jsonb_array_length(${peers.serves}) > 0`;
  const rows = await tx
    .select()
    .from(peers)
    .where(and(eq(peers.networkId, networkId), or(hasRows, hadSome)));
  return rows.map((row) => {
    const { id, routes: prefixes, serves } = peerFromRow(row);
    return { id, routes: prefixes, serves, upSince: row.routerUpSince, upUntil: row.routerUpUntil };
  });
}

/** Notes that routers answer, until a moment; those that answered before keep the time since when. */
export async function renewRouters(
  tx: Executor,
  ids: readonly PeerId[],
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const at = sql`${now.toISOString()}::timestamptz`;
  const since = sql`case when ${peers.routerUpUntil} > ${at} then ${peers.routerUpSince} else ${at} end`;
  await tx
    .update(peers)
    .set({ routerUpSince: since, routerUpUntil: until })
    .where(inArray(peers.id, [...ids]));
}

/** Notes that routers do not answer any more. */
export async function endRouters(tx: Executor, ids: readonly PeerId[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(peers)
    .set({ routerUpSince: null, routerUpUntil: null })
    .where(inArray(peers.id, [...ids]));
}

/** Gives a peer another place, and keeps the old one from being given away at once. */
export async function movePeer(
  tx: Executor,
  peer: Peer,
  to: Pick<Peer, "hostOffset" | "ipv4" | "ipv6"> & { readonly now: Date },
): Promise<void> {
  const { now, ...place } = to;
  await tx.update(peers).set(place).where(eq(peers.id, peer.id));
  await releaseOffset(tx, peer, now);
}

/** Networks with active peers whose time has come. */
export async function networksWithExpiry(db: Executor, now: Date): Promise<readonly NetworkId[]> {
  const rows = await db
    .selectDistinct({ networkId: peers.networkId })
    .from(peers)
    .where(and(eq(peers.state, "active"), lte(peers.expiresAt, now)));
  return rows.map((row) => storedNetworkId(row.networkId));
}

/** Expires the active peers of a network whose time has come, and returns them as they are now. */
export async function expireDue(tx: Executor, networkId: NetworkId, now: Date): Promise<readonly Peer[]> {
  const rows = await tx
    .update(peers)
    .set({ state: "expired" })
    .where(and(eq(peers.networkId, networkId), eq(peers.state, "active"), lte(peers.expiresAt, now)))
    .returning();
  return rows.map(peerFromRow);
}

/** When the next active peer expires. */
export async function nextExpiry(db: Executor): Promise<Date | null> {
  const [row] = await db
    .select({ at: peers.expiresAt })
    .from(peers)
    .where(and(eq(peers.state, "active"), isNotNull(peers.expiresAt)))
    .orderBy(peers.expiresAt)
    .limit(1);
  return row?.at ?? null;
}

/** Deletes the peer and keeps its place from being given away at once. */
export async function deletePeer(tx: Executor, peer: Peer, now: Date): Promise<void> {
  await tx.delete(peers).where(eq(peers.id, peer.id));
  await releaseOffset(tx, peer, now);
}

async function releaseOffset(tx: Executor, peer: Peer, now: Date): Promise<void> {
  await tx
    .insert(releasedOffsets)
    .values({ networkId: peer.networkId, hostOffset: peer.hostOffset, releasedAt: now })
    .onConflictDoUpdate({
      target: [releasedOffsets.networkId, releasedOffsets.hostOffset],
      set: { releasedAt: now },
    });
}

/** What a node says about itself at each start; its name and addresses stay. */
export async function updateNodeFacts(
  tx: Executor,
  id: PeerId,
  facts: Pick<Peer, "publicKey" | "hostname" | "os" | "arch" | "agentVersion" | "capabilities">,
): Promise<void> {
  await tx.update(peers).set(facts).where(eq(peers.id, id));
}

/** Names of a network that start like `label`, so that a free one can be chosen. */
export async function namesLike(tx: Executor, networkId: NetworkId, label: string): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ name: peers.name })
    .from(peers)
    .where(and(eq(peers.networkId, networkId), like(peers.name, `${label.slice(0, 50)}%`)));
  return new Set(rows.map(({ name }) => name));
}

/** How many peers of a network have which agent; the most frequent versions first. */
export async function countAgentVersions(
  db: Executor,
  networkId: NetworkId,
): Promise<readonly { readonly agentVersion: string; readonly peerCount: number }[]> {
  return db
    .select({ agentVersion: peers.agentVersion, peerCount: sql<number>`count(*)::int` })
    .from(peers)
    .where(eq(peers.networkId, networkId))
    .groupBy(peers.agentVersion)
    .orderBy(sql`count(*) desc`, peers.agentVersion)
    .limit(100);
}

/** Ids and names of all peers of a network. */
export async function peerNames(db: Executor, networkId: string): Promise<readonly (readonly [PeerId, string])[]> {
  const rows = await db.select({ id: peers.id, name: peers.name }).from(peers).where(eq(peers.networkId, networkId));
  return rows.map(({ id, name }) => [storedPeerId(id), name] as const);
}

/** One report of endpoints, ready to be stored. */
export type EndpointUpdate = { readonly peerId: PeerId; readonly endpoints: readonly PeerEndpoint[] };

/** Stores endpoints of many peers in one statement. */
export async function storeEndpoints(tx: Executor, updates: readonly EndpointUpdate[]): Promise<void> {
  await tx.execute(sql`
    update ${peers} set endpoints = incoming.endpoints::jsonb
    from unnest(${textArray(updates.map(({ peerId }) => peerId))},
                ${textArray(updates.map(({ endpoints }) => JSON.stringify(endpoints)))}) as incoming (id, endpoints)
    where ${peers.id} = incoming.id`);
}

/** Totals and last proof of life of one peer. */
export type TrafficUpdate = Pick<
  Peer,
  "rxBytes" | "txBytes" | "counterEpoch" | "epochRxBytes" | "epochTxBytes" | "lastSeenAt"
> & { readonly peerId: PeerId };

/** Stores totals of many peers in one statement; they never go back. */
export async function storeTraffic(db: Executor, updates: readonly TrafficUpdate[]): Promise<void> {
  const column = (read: (update: TrafficUpdate) => string) => textArray(updates.map(read));
  await db.execute(sql`
    update ${peers} set
      rx_bytes = greatest(${peers.rxBytes}, incoming.rx::bigint),
      tx_bytes = greatest(${peers.txBytes}, incoming.tx::bigint),
      counter_epoch = nullif(incoming.epoch, ''),
      epoch_rx_bytes = incoming.epoch_rx::bigint,
      epoch_tx_bytes = incoming.epoch_tx::bigint,
      last_seen_at = greatest(${peers.lastSeenAt}, nullif(incoming.seen, '')::timestamptz)
    from unnest(${column(({ peerId }) => peerId)},
                ${column(({ rxBytes }) => String(rxBytes))},
                ${column(({ txBytes }) => String(txBytes))},
                ${column(({ counterEpoch }) => counterEpoch ?? "")},
                ${column(({ epochRxBytes }) => String(epochRxBytes))},
                ${column(({ epochTxBytes }) => String(epochTxBytes))},
                ${column(({ lastSeenAt }) => lastSeenAt?.toISOString() ?? "")})
      as incoming (id, rx, tx, epoch, epoch_rx, epoch_tx, seen)
    where ${peers.id} = incoming.id`);
}

/** Those of the places that nobody has and nobody had a moment ago. */
export async function freeOffsets(
  tx: Executor,
  networkId: NetworkId,
  window: { readonly first: bigint; readonly last: bigint; readonly quarantineBegan: Date },
): Promise<bigint | undefined> {
  const places = sql`generate_series(${window.first}::bigint, ${window.last}::bigint)`;
  const rows = await tx.execute<{ place: string }>(sql`
    select place from ${places} as place
    where ${notExists(
      tx
        .select({ one: sql`1` })
        .from(peers)
        .where(and(eq(peers.networkId, networkId), sql`${peers.hostOffset} = place`)),
    )} and ${notExists(
      tx
        .select({ one: sql`1` })
        .from(releasedOffsets)
        .where(
          and(
            eq(releasedOffsets.networkId, networkId),
            sql`${releasedOffsets.hostOffset} = place`,
            sql`${releasedOffsets.releasedAt} > ${window.quarantineBegan.toISOString()}::timestamptz`,
          ),
        ),
    )}
    order by place limit 1`);
  const [row] = rows;
  return row === undefined ? undefined : BigInt(row.place);
}
