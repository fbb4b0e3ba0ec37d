import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { changePeer, findPeer } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Peer } from "../../domain/peer.ts";
import { stateAt } from "../../domain/peer-state.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { PeerView } from "../../registry/peer-schemas.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { peerView } from "../../registry/views.ts";

/** What a caller may set; what is left out stays. */
type Settings = Partial<Pick<Peer, "name" | "expiresAt">>;

/** Changes a peer under the lock of its network; who may see it is told, and the audit log says who did it. */
export async function changeSettings(
  deps: FeatureDeps,
  call: Call,
  change: {
    readonly peerId: string;
    readonly action: string;
    readonly wanted: (peer: Peer, now: Date) => Settings;
  },
): Promise<Result<PeerView, Failure>> {
  const now = new Date(deps.clock.nowMs());
  const changed = await transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, change.peerId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const before = await findPeer(tx, change.peerId);
    if (!before) return err({ code: "not_found", what: "peer" } as const);
    const fits = checkVersion(call, tagOf("peer", before));
    if (!fits.ok) return fits;
    const wanted = change.wanted(before, now);
    const old = settingsOf(before);
    const settings = {
      name: wanted.name ?? old.name,
      ...(wanted.expiresAt === undefined
        ? { state: old.state, expiresAt: old.expiresAt }
        : { state: stateAt(wanted.expiresAt, now), expiresAt: wanted.expiresAt }),
    };
    if (JSON.stringify(old) !== JSON.stringify(settings)) {
      await changePeer(tx, before.id, settings);
      await publishChanges(tx, before.networkId, { changes: [{ kind: "peer", peerId: before.id }], at: now });
      const note = { action: change.action, objectId: before.id, networkId: before.networkId };
      await recordAudit(tx, call, { ...note, before: old, after: settings, at: now });
    }
    return ok(peerView({ ...before, ...settings }, deps.live.peer(before.id)));
  });
  if (changed.ok) deps.noteExpiry();
  return changed;
}

function settingsOf({ name, state, expiresAt }: Peer) {
  return { name, state, expiresAt };
}
