import { err, groupIds as groupIdKind, ok, peerIds } from "@weft/protocol";
import { allocateOffset } from "../../db/address-allocation.ts";
import { isDuplicate } from "../../db/client.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { insertPeer } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import { addressesAt } from "../../domain/address-pool.ts";
import type { Peer } from "../../domain/peer.ts";
import { isReservedName } from "../../domain/peer-names.ts";
import { membershipEnd, stateAt } from "../../domain/peer-state.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { peerView } from "../../registry/views.ts";
import type { clientsContract } from "./contract.ts";
import { findGateway, readClientKey } from "./gateway-of.ts";

/** Adds a static client: it gets addresses of the network and is a member of its groups like any node. */
export async function createClient(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof clientsContract.create>,
): Outcome<typeof clientsContract.create> {
  const now = new Date(deps.clock.nowMs());
  const key = readClientKey(input.publicKey);
  if (!key.ok) return key;
  if (isReservedName(input.name)) return err({ code: "name_reserved", name: input.name });
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const network = await lockNetwork(tx, input.networkId);
      if (!network) return err({ code: "not_found", what: "network" } as const);
      const gateway = await findGateway(tx, network, input.gatewayPeerId);
      if (!gateway.ok) return gateway;
      const groupIds = [...new Set(input.groupIds.filter(groupIdKind.is))].toSorted();
      const [unknown] = await unknownGroups(tx, network.id, groupIds);
      if (unknown !== undefined) return err({ code: "not_found", what: `group ${unknown}` } as const);
      const offset = await allocateOffset(tx, network, now);
      if (!offset.ok) return offset;
      const wanted = input.expiresAt;
      const expiresAt = wanted === undefined ? membershipEnd(network, now) : wanted === null ? null : new Date(wanted);
      const peer: Peer = {
        ...NOTHING_KNOWN,
        id: peerIds.make(deps.random),
        networkId: network.id,
        name: input.name,
        publicKey: key.value,
        gatewayPeerId: gateway.value.id,
        hostOffset: offset.value,
        ...addressesAt(network, offset.value),
        state: stateAt(expiresAt, now),
        expiresAt,
        groupIds,
        createdAt: now,
      };
      await insertPeer(tx, peer);
      await publishChanges(tx, network.id, { changes: [{ kind: "peer", peerId: peer.id }], at: now });
      const view = peerView(peer, undefined, network);
      const note = { action: "clients.create", objectId: peer.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
      return ok(view);
    });
  const created = await create().catch((error: unknown) => {
    if (isDuplicate(error, "peers_name_unique")) return err({ code: "name_taken", name: input.name } as const);
    if (isDuplicate(error, "peers_public_key_unique")) return err({ code: "key_taken" } as const);
    throw error;
  });
  if (created.ok) deps.noteExpiry();
  return created;
}

/** What agents tell of their hosts; plain WireGuard tells nothing. */
const NOTHING_KNOWN = {
  kind: "client",
  identityKey: null,
  hostname: "",
  os: "",
  arch: "",
  agentVersion: "",
  capabilities: [],
  endpoints: [],
  rxBytes: 0n,
  txBytes: 0n,
  counterEpoch: null,
  epochRxBytes: 0n,
  epochTxBytes: 0n,
  lastSeenAt: null,
  routes: [],
  serves: [],
  exitChoice: null,
  ephemeralSeconds: null,
} as const;
