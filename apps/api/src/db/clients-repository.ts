import { and, count, eq, gt, lte } from "drizzle-orm";
import type { PeerId } from "@weft/protocol";
import type { Peer } from "../domain/peer.ts";
import type { Executor } from "./client.ts";
import { storedPeerId } from "./rows.ts";
import { clientLinks, peers } from "./schema/index.ts";

/** How many static clients have a gateway, whatever their state. */
export async function countClients(tx: Executor, gateway: PeerId): Promise<number> {
  const [row] = await tx.select({ total: count() }).from(peers).where(eq(peers.gatewayPeerId, gateway));
  return row?.total ?? 0;
}

/** Changes what only static clients have. */
export async function changeClient(
  tx: Executor,
  id: PeerId,
  settings: Pick<Peer, "gatewayPeerId" | "publicKey">,
): Promise<void> {
  await tx.update(peers).set(settings).where(eq(peers.id, id));
}

/** Leaves the clients of a gateway that goes without one, and says which they are. */
export async function leaveClients(tx: Executor, gateway: PeerId): Promise<readonly PeerId[]> {
  const rows = await tx
    .update(peers)
    .set({ gatewayPeerId: null })
    .where(eq(peers.gatewayPeerId, gateway))
    .returning({ id: peers.id });
  return rows.map(({ id }) => storedPeerId(id));
}

export type ClientLink = {
  readonly peerId: PeerId;
  readonly hash: string;
  readonly pad: string;
  readonly expiresAt: Date;
};

/** A client has one link at a time. */
export async function putClientLink(tx: Executor, link: ClientLink): Promise<void> {
  const { hash, pad, expiresAt } = link;
  await tx
    .insert(clientLinks)
    .values(link)
    .onConflictDoUpdate({ target: clientLinks.peerId, set: { hash, pad, expiresAt } });
}

/** Takes a link away and returns it; undefined when it was not good any more. Of parallel attempts one gets it. */
export async function takeClientLink(tx: Executor, hash: string, now: Date): Promise<ClientLink | undefined> {
  const [row] = await tx
    .delete(clientLinks)
    .where(and(eq(clientLinks.hash, hash), gt(clientLinks.expiresAt, now)))
    .returning();
  return row && { peerId: storedPeerId(row.peerId), hash: row.hash, pad: row.pad, expiresAt: row.expiresAt };
}

export async function deleteClientLink(tx: Executor, peerId: PeerId): Promise<void> {
  await tx.delete(clientLinks).where(eq(clientLinks.peerId, peerId));
}

/** What nobody can use any more goes. */
export async function deleteEndedClientLinks(db: Executor, now: Date): Promise<void> {
  await db.delete(clientLinks).where(lte(clientLinks.expiresAt, now));
}
