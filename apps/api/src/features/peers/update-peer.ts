import { err, groupIds, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { isReservedName } from "../../domain/peer-names.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { changeSettings } from "../../registry/change-peer.ts";
import type { peersContract } from "./contract.ts";

/** Changes name, groups or expiry of a peer; every agent that may see it learns of it. */
export async function updatePeer(
  deps: FeatureDeps,
  call: Call,
  { peerId, name, expiresAt, groupIds: wantedGroups }: InputOf<typeof peersContract.update>,
): Outcome<typeof peersContract.update> {
  if (name !== undefined && isReservedName(name)) return err({ code: "name_reserved", name });
  const wanted = {
    ...(name !== undefined && { name }),
    ...(wantedGroups !== undefined && { groupIds: wantedGroups.filter(groupIds.is) }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
  };
  const change = changeSettings(deps, call, { peerId, action: "peers.update", wanted: () => ok(wanted) });
  return change.catch((error: unknown) => {
    if (isDuplicate(error, "peers_name_unique")) return err({ code: "name_taken", name: name ?? "" } as const);
    throw error;
  });
}
