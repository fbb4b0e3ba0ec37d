import { err, ok, peerIds } from "@weft/protocol";
import type { IdentityKey, PublicKey, Result, Secret } from "@weft/protocol";
import { allocateOffset } from "../../db/address-allocation.ts";
import { findEnrolmentKeyByHash, spendEnrolmentKey } from "../../db/enrolment-keys-repository.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { changePeer, findPeerByIdentity, insertPeer, namesLike } from "../../db/peers-repository.ts";
import type { EnrolmentKey } from "../../db/enrolment-keys-repository.ts";
import type { Executor } from "../../db/client.ts";
import { transact } from "../../db/transact.ts";
import { addressesAt } from "../../domain/address-pool.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Network, Peer } from "../../domain/peer.ts";
import { firstState, membershipEnd, takesPart } from "../../domain/peer-state.ts";
import { nameCandidates } from "../../domain/peer-names.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import { hashSecret } from "../../registry/secrets.ts";
import { peerView } from "../../registry/views.ts";

/** What a node says about itself when it joins. */
export type JoiningNode = {
  readonly identityKey: IdentityKey;
  readonly publicKey: PublicKey;
  readonly hostname: string;
  readonly wantedName: string;
  readonly os: string;
  readonly arch: string;
  readonly agentVersion: string;
  readonly capabilities: readonly string[];
};

type EnrolDeps = Pick<FeatureDeps, "database" | "clock" | "random">;

/** Makes a peer out of a node and spends its key, both in one transaction or neither. */
export async function enrolNode(
  deps: EnrolDeps,
  from: { readonly address: string; readonly requestId: string },
  { node, key }: { readonly node: JoiningNode; readonly key: Secret<string> },
): Promise<Result<Peer, Failure>> {
  const now = new Date(deps.clock.nowMs());
  const hash = hashSecret(key.expose());
  const found = await findEnrolmentKeyByHash(deps.database.db, hash);
  if (!found) return err({ code: "enrolment_key_unknown" });
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, found.networkId);
    // Groups may have left the key until the lock was ours.
    const known = await findEnrolmentKeyByHash(tx, hash);
    if (!network || !known) return err({ code: "enrolment_key_unknown" });
    // The network's lock makes us the only one: a second attempt of the same node finds the first one's peer.
    const twin = await findPeerByIdentity(tx, node.identityKey);
    if (twin && !mustRenew(twin, now)) return ok(twin);
    if (!(await spendEnrolmentKey(tx, known.id, now))) {
      return err({
        code: known.revokedAt || known.expiresAt <= now ? "enrolment_key_expired" : "enrolment_key_used_up",
      });
    }
    if (twin) return ok(await renew(tx, twin, { from, now, network, key: known }));
    const offset = await allocateOffset(tx, network, now);
    if (!offset.ok) return offset;
    const { wantedName, ...facts } = node;
    const peer: Peer = {
      ...facts,
      id: peerIds.make(deps.random),
      networkId: network.id,
      kind: "node",
      gatewayPeerId: null,
      name: await freeName(wantedName || node.hostname, (label) => namesLike(tx, network.id, label)),
      hostOffset: offset.value,
      ...addressesAt(network, offset.value),
      endpoints: [],
      rxBytes: 0n,
      txBytes: 0n,
      counterEpoch: null,
      epochRxBytes: 0n,
      epochTxBytes: 0n,
      lastSeenAt: null,
      ...beginning(network, known, now),
      groupIds: known.groupIds,
      routes: [],
      serves: [],
      exitChoice: null,
      ephemeralSeconds: known.ephemeralSeconds,
      createdAt: now,
    };
    await insertPeer(tx, peer);
    await publishChanges(tx, network.id, { changes: [{ kind: "peer", peerId: peer.id }], at: now });
    const who = { ...from, actor: { kind: "node", peerId: peer.id, name: peer.name } } as const;
    const after = { ...peerView(peer, undefined, network), enrolmentKeyId: known.id };
    const note = { action: "peers.enrol", objectId: peer.id, networkId: network.id };
    await recordAudit(tx, who, { ...note, before: null, after, at: now });
    return ok(peer);
  });
}

/** Only an ended membership begins again with a key; what an administrator decided stays. */
function mustRenew(peer: Peer, now: Date): boolean {
  return (peer.state === "active" || peer.state === "expired") && !takesPart(peer, now);
}

/** An expired node that shows a new key is a member again, under its old name and addresses; it may have to be let in. */
async function renew(
  tx: Executor,
  peer: Peer,
  {
    from,
    now,
    network,
    key,
  }: {
    readonly from: { readonly address: string; readonly requestId: string };
    readonly now: Date;
    readonly network: Network;
    readonly key: EnrolmentKey;
  },
): Promise<Peer> {
  const fresh = beginning(network, key, now);
  await changePeer(tx, peer.id, fresh);
  await publishChanges(tx, peer.networkId, { changes: [{ kind: "peer", peerId: peer.id }], at: now });
  const who = { ...from, actor: { kind: "node", peerId: peer.id, name: peer.name } } as const;
  const before = { state: "expired", expiresAt: peer.expiresAt };
  const note = { action: "peers.enrol", objectId: peer.id, networkId: peer.networkId, before, at: now };
  await recordAudit(tx, who, { ...note, after: { ...fresh, enrolmentKeyId: key.id } });
  return { ...peer, ...fresh };
}

/** How a peer begins that shows a key. The membership of one that waits ends when its approval says. */
function beginning(network: Network, key: EnrolmentKey, now: Date): Pick<Peer, "state" | "expiresAt"> {
  const state = firstState(network.approval, key.approval);
  return { state, expiresAt: state === "active" ? membershipEnd(network, now) : null };
}

async function freeName(wanted: string, read: (label: string) => Promise<ReadonlySet<string>>): Promise<string> {
  let taken: ReadonlySet<string> | undefined;
  for (const candidate of nameCandidates(wanted)) {
    taken ??= await read(candidate);
    if (!taken.has(candidate)) return candidate;
  }
  throw new Error("candidates never end");
}
