import { and, asc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import type { NetworkId, PeerId } from "@weft/protocol";
import type { NetworkNames } from "../domain/names.ts";
import type { Network, Peer } from "../domain/peer.ts";
import type { PolicyRule } from "../domain/policy-rule.ts";
import type { Executor } from "./client.ts";
import { readNames } from "./names-repository.ts";
import { networkFromRow, peerFromRow, policyRuleFromRow, storedPeerId } from "./rows.ts";
import { networkChanges, networks, peers, rules } from "./schema/index.ts";

/** A network with everything its maps are made of, as of one sequence. */
export type NetworkContents = {
  readonly network: Network;
  readonly peers: readonly Peer[];
  readonly rules: readonly PolicyRule[];
  readonly names: NetworkNames;
};

/** What happened behind one sequence. */
export type ChangesSince = {
  readonly network: Network;
  /** Peers named by the changes; `undefined` when the peer is gone. */
  readonly peers: ReadonlyMap<PeerId, Peer | undefined>;
  /** The new rules when a change was about them. */
  readonly rules: readonly PolicyRule[] | undefined;
  /** The new names when a change was about them. */
  readonly names: NetworkNames | undefined;
  readonly networkChanged: boolean;
  /** When the newest change was made. */
  readonly at: Date | undefined;
  /** False when changes in between were pruned: read everything instead. */
  readonly isComplete: boolean;
};

/** Reads a whole network at one moment. */
export async function readNetwork(db: Executor, id: NetworkId): Promise<NetworkContents | undefined> {
  return db.transaction(
    async (tx) => {
      const [row] = await tx.select().from(networks).where(eq(networks.id, id));
      if (!row) return undefined;
      const peerRows = await tx.select().from(peers).where(eq(peers.networkId, id));
      return {
        network: networkFromRow(row),
        peers: peerRows.map(peerFromRow),
        rules: await readRules(tx, id),
        names: await readNames(tx, id),
      };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Reads what changed behind `sequence`, at one moment; `undefined` when the network is gone. */
export async function readChanges(db: Executor, id: NetworkId, sequence: bigint): Promise<ChangesSince | undefined> {
  return db.transaction(
    async (tx) => {
      const [row] = await tx.select().from(networks).where(eq(networks.id, id));
      if (!row) return undefined;
      const changes = await tx
        .select()
        .from(networkChanges)
        .where(and(eq(networkChanges.networkId, id), gt(networkChanges.sequence, sequence)))
        .orderBy(asc(networkChanges.sequence));
      const named = [...new Set(changes.flatMap(({ peerId }) => (peerId === null ? [] : [peerId])))];
      const found = named.length === 0 ? [] : await tx.select().from(peers).where(inArray(peers.id, named));
      const byId = new Map<PeerId, Peer | undefined>(named.map((peerId) => [storedPeerId(peerId), undefined]));
      for (const peerRow of found) byId.set(storedPeerId(peerRow.id), peerFromRow(peerRow));
      return {
        network: networkFromRow(row),
        peers: byId,
        rules: changes.some(({ kind }) => kind === "rules") ? await readRules(tx, id) : undefined,
        names: changes.some(({ kind }) => kind === "names") ? await readNames(tx, id) : undefined,
        networkChanged: changes.some(({ kind }) => kind === "network"),
        at: changes.at(-1)?.at,
        isComplete: BigInt(changes.length) === row.sequence - sequence,
      };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Forgets changes that every replica has long read. */
export async function pruneChanges(db: Executor, keep: number): Promise<void> {
  await db.execute(sql`
    delete from ${networkChanges} using ${networks}
    where ${networks.id} = ${networkChanges.networkId}
      and ${lte(networkChanges.sequence, sql`${networks.sequence} - ${keep}`)}`);
}

async function readRules(tx: Executor, id: NetworkId): Promise<readonly PolicyRule[]> {
  const rows = await tx
    .select()
    .from(rules)
    .where(eq(rules.networkId, id))
    .orderBy(asc(rules.place), asc(rules.createdAt), asc(rules.id));
  return rows.map(policyRuleFromRow);
}
