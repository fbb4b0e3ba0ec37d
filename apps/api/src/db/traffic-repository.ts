import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { NetworkId, PeerId } from "@weft/protocol";
import { stepBegin, TRAFFIC_STEPS } from "../domain/traffic-steps.ts";
import type { TrafficKeep, TrafficStep } from "../domain/traffic-steps.ts";
import type { Executor } from "./client.ts";
import { textArray } from "./rows-of-text.ts";
import { networks, trafficHistory } from "./schema/index.ts";

/** What a peer moved since the last time it was written down. */
export type TrafficGrowth = {
  readonly networkId: NetworkId;
  readonly peerId: PeerId;
  readonly rxBytes: bigint;
  readonly txBytes: bigint;
};

/** Steps of one width, `from` included, `until` not. */
export type TrafficSpan = { readonly step: TrafficStep; readonly from: Date; readonly until: Date };

/** One step in which something moved. */
export type TrafficPoint = { readonly at: Date; readonly rxBytes: bigint; readonly txBytes: bigint };

/** Adds to the present step of every width, for many peers in one statement. Networks that are gone are left out. */
export async function addTraffic(tx: Executor, growth: readonly TrafficGrowth[], at: Date): Promise<void> {
  if (growth.length === 0) return;
  const column = (read: (one: TrafficGrowth) => string) => textArray(growth.map(read));
  const steps = textArray(TRAFFIC_STEPS);
  const begins = textArray(TRAFFIC_STEPS.map((step) => stepBegin(step, at.getTime()).toISOString()));
  await tx.execute(sql`
    insert into ${trafficHistory} (network_id, peer_id, step, at, rx_bytes, tx_bytes)
    select incoming.network, incoming.peer, width.step, width.began::timestamptz, incoming.rx::bigint, incoming.tx::bigint
    from unnest(${column(({ networkId }) => networkId)}, ${column(({ peerId }) => peerId)},
                ${column(({ rxBytes }) => String(rxBytes))}, ${column(({ txBytes }) => String(txBytes))})
      as incoming (network, peer, rx, tx)
    cross join unnest(${steps}, ${begins}) as width (step, began)
    where exists (select 1 from ${networks} where ${networks.id} = incoming.network)
    on conflict (peer_id, step, at) do update set
      rx_bytes = ${trafficHistory.rxBytes} + excluded.rx_bytes,
      tx_bytes = ${trafficHistory.txBytes} + excluded.tx_bytes`);
}

/** What one peer moved, in order of time. */
export async function peerTraffic(db: Executor, peerId: PeerId, span: TrafficSpan): Promise<readonly TrafficPoint[]> {
  const { at, rxBytes, txBytes } = trafficHistory;
  return db
    .select({ at, rxBytes, txBytes })
    .from(trafficHistory)
    .where(and(eq(trafficHistory.peerId, peerId), within(span)))
    .orderBy(asc(at));
}

/** What all peers of a network moved together, those that are gone included, in order of time. */
export async function networkTraffic(
  db: Executor,
  networkId: NetworkId,
  span: TrafficSpan,
): Promise<readonly TrafficPoint[]> {
  const rows = await db
    .select({
      at: trafficHistory.at,
      rx: sql<string>`sum(${trafficHistory.rxBytes})::text`,
      tx: sql<string>`sum(${trafficHistory.txBytes})::text`,
    })
    .from(trafficHistory)
    .where(and(eq(trafficHistory.networkId, networkId), within(span)))
    .groupBy(trafficHistory.at)
    .orderBy(asc(trafficHistory.at));
  return rows.map(({ at, rx, tx }) => ({ at, rxBytes: BigInt(rx), txBytes: BigInt(tx) }));
}

/** Forgets steps that were kept long enough. */
export async function pruneTraffic(db: Executor, keep: TrafficKeep, nowMs: number): Promise<void> {
  for (const step of TRAFFIC_STEPS) {
    const from = new Date(nowMs - keep[step]);
    await db.delete(trafficHistory).where(and(eq(trafficHistory.step, step), lt(trafficHistory.at, from)));
  }
}

function within({ step, from, until }: TrafficSpan) {
  return and(eq(trafficHistory.step, step), gte(trafficHistory.at, from), lt(trafficHistory.at, until));
}
