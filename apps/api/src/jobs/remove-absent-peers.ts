import { ok } from "@weft/protocol";
import type { NetworkId, PeerId } from "@weft/protocol";
import { absentPeers, noteSeen } from "../db/absent-peers-repository.ts";
import type { Executor } from "../db/client.ts";
import { lockNetwork } from "../db/networks-repository.ts";
import { findPeer } from "../db/peers-repository.ts";
import { transact } from "../db/transact.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { removalTime } from "../domain/peer-state.ts";
import { BY_SERVER, recordAudit } from "../registry/audit.ts";
import { forgetPeer } from "../registry/forget-peer.ts";
import { peerView } from "../registry/views.ts";

/** Networks in memory, as far as this job looks at them. */
type KnownNetwork = { readonly network: Network; readonly peers: Iterable<Peer> };

/**
 * Removes peers that were away for longer than their key or their network allows. A round costs no statement where no
 * peer can go by itself.
 *
 * The time of the last proof of life decides, and the database has it: a restart of the server loses no timer, and other
 * servers of the same database say who is connected to them. For a while after a start nobody is removed, because nodes
 * that were connected had no time to come back.
 */
export function createAbsenceRound(deps: {
  readonly db: Executor;
  readonly networks: () => Iterable<KnownNetwork>;
  readonly isOnline: (id: PeerId) => boolean;
  readonly nowMs: () => number;
}): () => Promise<void> {
  const startedAtMs = deps.nowMs();
  let seenAllAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = deps.nowMs();
    const isHour = nowMs - seenAllAtMs >= SEEN_ALL_MS;
    const watched = watchedPeers(deps.networks(), { isOnline: deps.isOnline, withAll: isHour });
    if (isHour) seenAllAtMs = nowMs;
    if (watched.online.length > 0) await noteSeen(deps.db, watched.online, new Date(nowMs));
    if (!watched.canGo || nowMs - startedAtMs < RETURN_MS) return;
    for (const { id, networkId } of await absentPeers(deps.db, new Date(nowMs))) {
      if (!deps.isOnline(id)) await removeAbsent(deps.db, { id, networkId, now: new Date(nowMs) });
    }
  };
}

function watchedPeers(
  networks: Iterable<KnownNetwork>,
  how: { readonly isOnline: (id: PeerId) => boolean; readonly withAll: boolean },
): { readonly online: readonly PeerId[]; readonly canGo: boolean } {
  const online: PeerId[] = [];
  let canGo = false;
  for (const { network, peers } of networks) {
    const idleGo = network.idleRemovalSeconds !== null;
    canGo ||= idleGo;
    for (const { id, ephemeralSeconds } of peers) {
      canGo ||= ephemeralSeconds !== null;
      // Idle means hours at least: such peers need no proof in every round.
      if ((ephemeralSeconds !== null || (idleGo && how.withAll)) && how.isOnline(id)) online.push(id);
    }
  }
  return { online, canGo };
}

async function removeAbsent(
  db: Executor,
  { id, networkId, now }: { readonly id: PeerId; readonly networkId: NetworkId; readonly now: Date },
): Promise<void> {
  await transact(db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    const peer = await findPeer(tx, id);
    // Another server of the same database was faster, or the node came back.
    if (!network || !peer) return ok(undefined);
    const time = removalTime(peer, network);
    if (!time || time > now) return ok(undefined);
    await forgetPeer(tx, BY_SERVER, { peer, at: now });
    const note = { action: "peers.removeAbsent", objectId: id, networkId, at: now };
    await recordAudit(tx, BY_SERVER, { ...note, before: peerView(peer, undefined, network), after: null });
    return ok(undefined);
  });
}

/** As long as nodes may take to come back after a restart of the server. */
const RETURN_MS = 90_000;
/** So often peers of networks that remove idle ones are written down as seen while they are connected. */
const SEEN_ALL_MS = 30 * 60_000;
