import { sql } from "drizzle-orm";
import type { NetworkId, PeerId } from "@weft/protocol";
import type { Executor } from "./client.ts";
import { storedNetworkId, storedPeerId } from "./rows.ts";
import { networks, peers } from "./schema/index.ts";

/** Notes a proof of life of many peers in one statement. */
export async function noteSeen(db: Executor, ids: readonly PeerId[], now: Date): Promise<void> {
  await db.execute(sql`
    update ${peers} set last_seen_at = greatest(${peers.lastSeenAt}, ${now.toISOString()}::timestamptz)
    where ${peers.id} = any(${sql.param([...ids])}::text[])`);
}

/** Peers that may have been away for too long; who removes one looks again under the lock of its network. */
export async function absentPeers(
  db: Executor,
  now: Date,
): Promise<readonly { readonly id: PeerId; readonly networkId: NetworkId }[]> {
  const seen = sql`coalesce(${peers.lastSeenAt}, ${peers.createdAt})`;
  const time = now.toISOString();
  const rows = await db.execute<{ id: string; network_id: string }>(sql`
    select id, network_id from ${peers}
    where ${peers.ephemeralSeconds} is not null and ${peers.kind} = 'node'
      and ${seen} + make_interval(secs => ${peers.ephemeralSeconds}) <= ${time}::timestamptz
    union
    select ${peers.id}, ${peers.networkId} from ${peers} join ${networks} on ${networks.id} = ${peers.networkId}
    where ${networks.idleRemovalSeconds} is not null and ${peers.kind} = 'node'
      and ${seen} + make_interval(secs => ${networks.idleRemovalSeconds}) <= ${time}::timestamptz`);
  return rows.map((row) => ({ id: storedPeerId(row.id), networkId: storedNetworkId(row.network_id) }));
}
