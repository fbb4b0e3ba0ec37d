import { err, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findPeer, renamePeer as storeName } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { isReservedName } from "../../domain/peer-names.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { peerView } from "../../registry/views.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { peersContract } from "./contract.ts";

/** Renames a peer; every agent that may see it learns the new name. */
export async function renamePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, name }: InputOf<typeof peersContract.rename>,
): Outcome<typeof peersContract.rename> {
  if (isReservedName(name)) return err({ code: "name_reserved", name });
  const now = new Date(deps.clock.nowMs());
  const rename = () =>
    transact(deps.database.db, async (tx) => {
      const networkId = (await findPeer(tx, peerId))?.networkId;
      if (networkId) await lockNetwork(tx, networkId);
      const before = await findPeer(tx, peerId);
      if (!before) return err({ code: "not_found", what: "peer" } as const);
      const fits = checkVersion(call, tagOf("peer", before));
      if (!fits.ok) return fits;
      const after = { ...before, name };
      if (before.name !== name) {
        await storeName(tx, before.id, name);
        await publishChanges(tx, before.networkId, { changes: [{ kind: "peer", peerId: before.id }], at: now });
        const note = { action: "peers.rename", objectId: before.id, networkId: before.networkId };
        await recordAudit(tx, call, { ...note, before: { name: before.name }, after: { name }, at: now });
      }
      return ok(peerView(after, deps.live.peer(before.id)));
    });
  return rename().catch((error: unknown) => {
    if (isDuplicate(error, "peers_name_unique")) return err({ code: "name_taken", name } as const);
    throw error;
  });
}
