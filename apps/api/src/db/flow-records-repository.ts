import { and, asc, desc, eq, getTableColumns, gte, lt, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { StoredFlow } from "../domain/flow-record.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { before, equals, finishPage, listPage, notBefore, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { textArray } from "./rows-of-text.ts";
import { flowRecords, networks } from "./schema/index.ts";

export type FlowRow = typeof flowRecords.$inferSelect;

export const flowRecordsList: ListTable = {
  table: flowRecords,
  id: flowRecords.id,
  fields: { startedAt: sortColumn(flowRecords.startedAt) },
  filters: {
    peerId: equals(flowRecords.peerId),
    otherPeerId: equals(flowRecords.otherPeerId),
    ruleId: equals(flowRecords.ruleId),
    verdict: equals(flowRecords.verdict),
    protocol: equals(flowRecords.protocol),
    port: equals(flowRecords.destinationPort),
    // Both ends of a flow may lie in it, so it is looked at while the time's index is walked.
    address: (range) => sql`(${within(flowRecords.source, range)} or ${within(flowRecords.destination, range)})`,
    since: notBefore(flowRecords.startedAt),
    until: before(flowRecords.startedAt),
  },
  search: [],
};

/** Writes flows, or what is newer about them, in one statement. Networks that are gone are left out. */
export async function storeFlows(db: Executor, flows: readonly StoredFlow[]): Promise<void> {
  if (flows.length === 0) return;
  const column = (read: (flow: StoredFlow) => string | number | bigint | null) =>
    textArray(flows.map((flow) => String(read(flow) ?? "")));
  await db.execute(sql`
    insert into ${flowRecords} (id, network_id, peer_id, other_peer_id, protocol, source, destination, source_port,
      destination_port, icmp_type, direction, verdict, rule_id, rx_packets, rx_bytes, tx_packets, tx_bytes, drops,
      started_at, last_at, state)
    select incoming.id, incoming.network, incoming.peer, nullif(incoming.other, ''), incoming.protocol::integer,
      incoming.source::inet, incoming.destination::inet, nullif(incoming.source_port, '')::integer,
      nullif(incoming.destination_port, '')::integer, nullif(incoming.icmp, '')::integer, incoming.direction,
      incoming.verdict, nullif(incoming.rule, ''), incoming.rx_packets::bigint, incoming.rx_bytes::bigint,
      incoming.tx_packets::bigint, incoming.tx_bytes::bigint, incoming.drops::bigint, incoming.started::timestamptz,
      incoming.last::timestamptz, incoming.state
    from unnest(${column(({ id }) => id)}, ${column(({ networkId }) => networkId)}, ${column(({ peerId }) => peerId)},
      ${column(({ otherPeerId }) => otherPeerId)}, ${column(({ protocol }) => protocol)},
      ${column(({ source }) => source)}, ${column(({ destination }) => destination)},
      ${column(({ sourcePort }) => sourcePort)}, ${column(({ destinationPort }) => destinationPort)},
      ${column(({ icmpType }) => icmpType)}, ${column(({ direction }) => direction)},
      ${column(({ verdict }) => verdict)}, ${column(({ ruleId }) => ruleId)},
      ${column(({ rxPackets }) => rxPackets)}, ${column(({ rxBytes }) => rxBytes)},
      ${column(({ txPackets }) => txPackets)}, ${column(({ txBytes }) => txBytes)}, ${column(({ drops }) => drops)},
      ${column(({ startedAt }) => startedAt.toISOString())}, ${column(({ lastAt }) => lastAt.toISOString())},
      ${column(({ state }) => state)})
      as incoming (id, network, peer, other, protocol, source, destination, source_port, destination_port, icmp, direction,
        verdict, rule, rx_packets, rx_bytes, tx_packets, tx_bytes, drops, started, last, state)
    where exists (select 1 from ${networks} where ${networks.id} = incoming.network)
    on conflict (id) do update set
      verdict = excluded.verdict, rule_id = excluded.rule_id, rx_packets = excluded.rx_packets,
      rx_bytes = excluded.rx_bytes, tx_packets = excluded.tx_packets, tx_bytes = excluded.tx_bytes,
      drops = excluded.drops, last_at = excluded.last_at, state = excluded.state`);
}

export async function listFlows(db: Executor, networkId: string, request: ListRequest): Promise<ListedPage<FlowRow>> {
  const page = listPage(flowRecordsList, request, eq(flowRecords.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(flowRecords), listPlace: page.place })
    .from(flowRecords)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: FlowRow) => row });
}

/** Flows of a peer that went on after a moment, those with the most bytes first. */
export async function largestOpenFlows(
  db: Executor,
  peerId: string,
  { after, limit }: { readonly after: Date; readonly limit: number },
): Promise<readonly FlowRow[]> {
  return db
    .select()
    .from(flowRecords)
    .where(and(eq(flowRecords.peerId, peerId), eq(flowRecords.state, "open"), gte(flowRecords.lastAt, after)))
    .orderBy(desc(sql`${flowRecords.rxBytes} + ${flowRecords.txBytes}`), desc(flowRecords.drops), asc(flowRecords.id))
    .limit(limit);
}

/** Forgets flows that ended longer ago than their network keeps them, and the oldest of a network that has too many. */
export async function pruneFlows(
  db: Executor,
  { nowMs, rowsMax }: { readonly nowMs: number; readonly rowsMax: number },
): Promise<void> {
  const kept = await db.select({ id: networks.id, hours: networks.flowKeepHours }).from(networks);
  for (const { id, hours } of kept) {
    const from = new Date(nowMs - hours * HOUR_MS);
    const own = eq(flowRecords.networkId, id);
    await db.delete(flowRecords).where(and(own, lt(flowRecords.startedAt, from), lt(flowRecords.lastAt, from)));
    const [oldest] = await db
      .select({ startedAt: flowRecords.startedAt })
      .from(flowRecords)
      .where(own)
      .orderBy(desc(flowRecords.startedAt), desc(flowRecords.id))
      .offset(rowsMax)
      .limit(1);
    if (oldest)
      await db.delete(flowRecords).where(and(own, sql`${flowRecords.startedAt} <= ${oldest.startedAt.toISOString()}`));
  }
}

function within(column: PgColumn, range: string | number | boolean) {
  return sql`${column} <<= ${String(range)}::inet`;
}

const HOUR_MS = 3_600_000;
