import { err, ok } from "@weft/protocol";
import { changeClient, deleteClientLink } from "../../db/clients-repository.ts";
import { isDuplicate } from "../../db/client.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { peerView } from "../../registry/views.ts";
import type { clientsContract } from "./contract.ts";
import { findGateway, readClientKey } from "./gateway-of.ts";

/** Moves a client behind another gateway, or takes a new key for it; every map says so at once. */
export async function updateClient(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof clientsContract.update>,
): Outcome<typeof clientsContract.update> {
  const at = new Date(deps.clock.nowMs());
  const key = input.publicKey === undefined ? ok(undefined) : readClientKey(input.publicKey);
  if (!key.ok) return key;
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const networkId = (await findPeer(tx, input.peerId))?.networkId;
      const network = networkId && (await lockNetwork(tx, networkId));
      const before = await findPeer(tx, input.peerId);
      if (!before || !network || before.kind !== "client")
        return err({ code: "not_found", what: "static client" } as const);
      const fits = checkVersion(call, tagOf("peer", before));
      if (!fits.ok) return fits;
      const wanted = input.gatewayPeerId;
      const isMoved = wanted !== undefined && wanted !== before.gatewayPeerId;
      const gateway = isMoved ? await findGateway(tx, network, wanted) : undefined;
      if (gateway && !gateway.ok) return gateway;
      const old = { gatewayPeerId: before.gatewayPeerId, publicKey: before.publicKey };
      const next = { gatewayPeerId: gateway?.value.id ?? old.gatewayPeerId, publicKey: key.value ?? old.publicKey };
      if (JSON.stringify(old) !== JSON.stringify(next)) {
        await changeClient(tx, before.id, next);
        // A link that is open gives out the private key of the old one.
        if (old.publicKey !== next.publicKey) await deleteClientLink(tx, before.id);
        await publishChanges(tx, network.id, { changes: [{ kind: "peer", peerId: before.id }], at });
        const note = { action: "clients.update", objectId: before.id, networkId: network.id };
        await recordAudit(tx, call, { ...note, before: old, after: next, at });
      }
      return ok(peerView({ ...before, ...next }, deps.live.peer(before.id), network));
    });
  return update().catch((error: unknown) => {
    if (isDuplicate(error, "peers_public_key_unique")) return err({ code: "key_taken" } as const);
    throw error;
  });
}
