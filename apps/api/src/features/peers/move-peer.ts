import { err, ok } from "@weft/protocol";
import { isOffsetFree } from "../../db/address-allocation.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findPeer, movePeer as writePlace } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { addressesAt, offsetWished } from "../../domain/address-pool.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { peerView } from "../../registry/views.ts";
import type { peersContract } from "./contract.ts";

/** Gives a peer another address: its node and all that may see it change over while they run. */
export async function movePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, address }: InputOf<typeof peersContract.move>,
): Outcome<typeof peersContract.move> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findPeer(tx, peerId))?.networkId;
    const network = networkId && (await lockNetwork(tx, networkId));
    const before = await findPeer(tx, peerId);
    if (!before || !network) return err({ code: "not_found", what: "peer" });
    const fits = checkVersion(call, tagOf("peer", before));
    if (!fits.ok) return fits;
    const offset = offsetWished(network, address);
    if (offset === undefined) return err({ code: "address_unusable", address });
    const live = deps.live.peer(before.id);
    if (offset === before.hostOffset) return ok(peerView(before, live, network));
    if (!(await isOffsetFree(tx, network, { offset, now }))) return err({ code: "address_taken", address });
    const place = { hostOffset: offset, ...addressesAt(network, offset) };
    await writePlace(tx, before, { ...place, now });
    await publishChanges(tx, network.id, { changes: [{ kind: "peer", peerId: before.id }], at: now });
    const { ipv4, ipv6 } = place;
    const note = { action: "peers.move", objectId: before.id, networkId: network.id, at: now };
    await recordAudit(tx, call, { ...note, before: { ipv4: before.ipv4, ipv6: before.ipv6 }, after: { ipv4, ipv6 } });
    return ok(peerView({ ...before, ...place }, live, network));
  });
}
