import { and, count, eq, gt, sql } from "drizzle-orm";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { poolOf } from "../domain/address-pool.ts";
import type { Failure } from "../domain/failure.ts";
import type { Network } from "../domain/peer.ts";
import type { Executor } from "./client.ts";
import { freeOffsets } from "./peers-repository.ts";
import { networks, peers, releasedOffsets } from "./schema/index.ts";

/**
 * Finds a free place in the network's ranges. The caller holds the network's lock.
 *
 * A full network is told by counting, never by searching; a search ends after as many places as are in use.
 */
export async function allocateOffset(tx: Executor, network: Network, now: Date): Promise<Result<bigint, Failure>> {
  const pool = poolOf(network);
  const quarantineBegan = new Date(now.getTime() - QUARANTINE_MS);
  const { used, hint } = await readUse(tx, network, quarantineBegan);
  if (used >= pool.capacity) {
    return err({ code: "address_pool_full", network: network.name, capacity: pool.capacity });
  }
  const search = async (from: bigint, size: bigint) => {
    const first = from < pool.first ? pool.first : from;
    const last = first + size - 1n > pool.last ? pool.last : first + size - 1n;
    if (first > last) return undefined;
    return freeOffsets(tx, network.id, { first, last, quarantineBegan });
  };
  let found = await search(hint, NEAR);
  for (let from = pool.first; found === undefined && from <= pool.last; from += STEP) found = await search(from, STEP);
  if (found === undefined) throw new Error(`${used} of ${pool.capacity} places are used, yet none is free`);
  await tx
    .update(networks)
    .set({ nextOffset: found + 1n })
    .where(eq(networks.id, network.id));
  return ok(found);
}

/** Whether nobody has a place and nobody had it a moment ago. The caller holds the network's lock. */
export async function isOffsetFree(
  tx: Executor,
  network: Network,
  { offset, now }: { readonly offset: bigint; readonly now: Date },
): Promise<boolean> {
  const quarantineBegan = new Date(now.getTime() - QUARANTINE_MS);
  const window = { first: offset, last: offset, quarantineBegan };
  return (await freeOffsets(tx, network.id, window)) !== undefined;
}

/** How many places are in use or held back, and where the search begins; one round trip. */
async function readUse(
  tx: Executor,
  network: Network,
  quarantineBegan: Date,
): Promise<{ readonly used: bigint; readonly hint: bigint }> {
  const taken = tx.select({ total: count() }).from(peers).where(eq(peers.networkId, network.id));
  const held = tx
    .select({ total: count() })
    .from(releasedOffsets)
    .where(and(eq(releasedOffsets.networkId, network.id), gt(releasedOffsets.releasedAt, quarantineBegan)));
  const [row] = await tx
    .select({ hint: networks.nextOffset, used: sql<string>`(${taken}) + (${held})` })
    .from(networks)
    .where(eq(networks.id, network.id));
  return { hint: row?.hint ?? 0n, used: BigInt(row?.used ?? 0) };
}

/** A removed peer's addresses stay unused this long. */
const QUARANTINE_MS = 10 * 60_000;

const NEAR = 64n;
const STEP = 1_024n;
