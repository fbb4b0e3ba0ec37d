import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { unknownGroups } from "../db/groups-repository.ts";
import { lockNetwork, publishChanges } from "../db/networks-repository.ts";
import { changePeer, findPeer } from "../db/peers-repository.ts";
import { transact } from "../db/transact.ts";
import type { Failure } from "../domain/failure.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { stateWithExpiry } from "../domain/peer-state.ts";
import { recordAudit } from "./audit.ts";
import type { Call } from "./call.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import type { PeerView } from "./peer-schemas.ts";
import { checkVersion, tagOf } from "./versions.ts";
import { peerView } from "./views.ts";

/** What a caller may set; what is left out stays. */
export type WantedSettings = Partial<Pick<Peer, "name" | "expiresAt" | "state" | "groupIds">>;

/** Changes a peer under the lock of its network; who may see it is told, and the audit log says who did it. */
export async function changeSettings(
  deps: FeatureDeps,
  call: Call,
  change: {
    readonly peerId: string;
    readonly action: string;
    readonly wanted: (
      peer: Peer,
      context: { readonly now: Date; readonly network: Network },
    ) => Result<WantedSettings, Failure>;
  },
): Promise<Result<PeerView, Failure>> {
  const now = new Date(deps.clock.nowMs());
  const changed = await transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, change.peerId))?.networkId;
    const network = networkId && (await lockNetwork(tx, networkId));
    const before = await findPeer(tx, change.peerId);
    if (!before || !network) return err({ code: "not_found", what: "peer" } as const);
    const fits = checkVersion(call, tagOf("peer", before));
    if (!fits.ok) return fits;
    const wanted = change.wanted(before, { now, network });
    if (!wanted.ok) return wanted;
    const old = settingsOf(before);
    const settings = settingsAfter(before, wanted.value, now);
    const [unknown] = await unknownGroups(tx, network.id, settings.groupIds);
    if (unknown !== undefined) return err({ code: "not_found", what: `group ${unknown}` } as const);
    if (JSON.stringify(old) !== JSON.stringify(settings)) {
      await changePeer(tx, before.id, settings);
      await publishChanges(tx, before.networkId, { changes: [{ kind: "peer", peerId: before.id }], at: now });
      const note = { action: change.action, objectId: before.id, networkId: before.networkId };
      await recordAudit(tx, call, { ...note, before: old, after: settings, at: now });
    }
    return ok(peerView({ ...before, ...settings }, deps.live.peer(before.id), network));
  });
  if (changed.ok) deps.noteExpiry();
  return changed;
}

function settingsAfter(before: Peer, wanted: WantedSettings, now: Date) {
  const expiresAt = wanted.expiresAt === undefined ? before.expiresAt : wanted.expiresAt;
  const state = wanted.state ?? before.state;
  return {
    name: wanted.name ?? before.name,
    state: wanted.expiresAt === undefined ? state : stateWithExpiry(state, expiresAt, now),
    expiresAt,
    groupIds: [...new Set(wanted.groupIds ?? before.groupIds)].toSorted(),
  };
}

function settingsOf({ name, state, expiresAt, groupIds }: Peer) {
  return { name, state, expiresAt, groupIds };
}
