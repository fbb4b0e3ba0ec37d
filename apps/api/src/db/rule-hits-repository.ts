import { eq, sql } from "drizzle-orm";
import type { PeerId, RuleId } from "@weft/protocol";
import type { Executor } from "./client.ts";
import { textArray } from "./rows-of-text.ts";
import { ruleHits, rules } from "./schema/index.ts";

/** What met a rule on one node since its counter epoch began. */
export type ReportedHits = {
  readonly ruleId: RuleId;
  readonly peerId: PeerId;
  readonly counterEpoch: string;
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly drops: bigint;
  readonly flows: bigint;
  readonly lastHitAt: Date | null;
};

/** What met a rule on all nodes together, those that are gone included. */
export type RuleHits = Omit<ReportedHits, "peerId" | "counterEpoch">;

/**
 * Adds what is new about many rules in one statement. In the same epoch that is the growth; a counter that is smaller than
 * before, or of another epoch, began at zero. Rules that are gone are left out.
 */
export async function storeRuleHits(db: Executor, hits: readonly ReportedHits[]): Promise<void> {
  if (hits.length === 0) return;
  const column = (read: (one: ReportedHits) => string | bigint) => textArray(hits.map((one) => String(read(one))));
  const grown = (name: string) => {
    const mine = (column: string) => sql`${sql.identifier("rule_hits")}.${sql.identifier(column)}`;
    const [total, epoch, now] = [mine(name), mine(`epoch_${name}`), sql`excluded.${sql.identifier(name)}`];
    const isGoing = sql`${mine("counter_epoch")} = excluded.counter_epoch and ${now} >= ${epoch}`;
    return sql`least(9223372036854775807::numeric,
      ${total}::numeric + ${now} - case when ${isGoing} then ${epoch} else 0 end)::bigint`;
  };
  await db.execute(sql`
    insert into ${ruleHits} (rule_id, peer_id, packets, bytes, drops, flows, counter_epoch, epoch_packets, epoch_bytes,
      epoch_drops, epoch_flows, last_hit_at)
    select incoming.rule, incoming.peer, incoming.packets::bigint, incoming.bytes::bigint, incoming.drops::bigint,
      incoming.flows::bigint, incoming.epoch, incoming.packets::bigint, incoming.bytes::bigint, incoming.drops::bigint,
      incoming.flows::bigint, nullif(incoming.last, '')::timestamptz
    from unnest(${column(({ ruleId }) => ruleId)}, ${column(({ peerId }) => peerId)},
      ${column(({ packets }) => packets)}, ${column(({ bytes }) => bytes)}, ${column(({ drops }) => drops)},
      ${column(({ flows }) => flows)}, ${column(({ counterEpoch }) => counterEpoch)},
      ${column(({ lastHitAt }) => lastHitAt?.toISOString() ?? "")})
      as incoming (rule, peer, packets, bytes, drops, flows, epoch, last)
    where exists (select 1 from ${rules} where ${rules.id} = incoming.rule)
    on conflict (rule_id, peer_id) do update set
      packets = ${grown("packets")}, bytes = ${grown("bytes")}, drops = ${grown("drops")}, flows = ${grown("flows")},
      counter_epoch = excluded.counter_epoch, epoch_packets = excluded.epoch_packets, epoch_bytes = excluded.epoch_bytes,
      epoch_drops = excluded.epoch_drops, epoch_flows = excluded.epoch_flows,
      last_hit_at = greatest(${ruleHits.lastHitAt}, excluded.last_hit_at)`);
}

/** What met each rule of a network that anything ever met. */
export async function hitsOfNetwork(db: Executor, networkId: string): Promise<readonly RuleHits[]> {
  const sumOf = (column: typeof ruleHits.packets) => sql<string>`sum(${column})::text`;
  const found = await db
    .select({
      ruleId: sql<RuleId>`${ruleHits.ruleId}`,
      packets: sumOf(ruleHits.packets),
      bytes: sumOf(ruleHits.bytes),
      drops: sumOf(ruleHits.drops),
      flows: sumOf(ruleHits.flows),
      lastHitAt: sql<string | null>`max(${ruleHits.lastHitAt})::text`,
    })
    .from(ruleHits)
    .innerJoin(rules, eq(rules.id, ruleHits.ruleId))
    .where(eq(rules.networkId, networkId))
    .groupBy(ruleHits.ruleId)
    .orderBy(ruleHits.ruleId);
  return found.map(({ ruleId, packets, bytes, drops, flows, lastHitAt }) => ({
    ruleId,
    packets: BigInt(packets),
    bytes: BigInt(bytes),
    drops: BigInt(drops),
    flows: BigInt(flows),
    lastHitAt: lastHitAt === null ? null : new Date(lastHitAt),
  }));
}
