import { err, ok } from "@weft/protocol";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import { forgetPeer } from "../../registry/forget-peer.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { peerView } from "../../registry/views.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { peersContract } from "./contract.ts";

/** Removes a peer for good: its stream ends with the reason, all others forget it. */
export async function removePeer(
  deps: FeatureDeps,
  call: Pick<Call, "actor" | "address" | "requestId" | "ifMatch">,
  { peerId }: InputOf<typeof peersContract.remove>,
): Outcome<typeof peersContract.remove> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, peerId))?.networkId;
    const network = networkId && (await lockNetwork(tx, networkId));
    const before = await findPeer(tx, peerId);
    if (!before || !network) return err({ code: "not_found", what: "peer" });
    const fits = checkVersion(call, tagOf("peer", before));
    if (!fits.ok) return fits;
    await forgetPeer(tx, call, { peer: before, at: now });
    await recordAudit(tx, call, {
      action: "peers.remove",
      objectId: before.id,
      networkId: before.networkId,
      before: peerView(before, undefined, network),
      after: null,
      at: now,
    });
    return ok(undefined);
  });
}
