import { err, groupIds, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { countGroups, insertGroup } from "../../db/groups-repository.ts";
import { lockNetwork } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { GROUPS_MAX } from "../../registry/limits.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Creates a group; nobody's map changes, because nobody belongs to it yet. */
export async function createGroup(
  deps: FeatureDeps,
  call: Call,
  { networkId, name, description }: InputOf<typeof groupsContract.create>,
): Outcome<typeof groupsContract.create> {
  const now = new Date(deps.clock.nowMs());
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const network = await lockNetwork(tx, networkId);
      if (!network) return err({ code: "not_found", what: "network" } as const);
      if ((await countGroups(tx, network.id)) >= GROUPS_MAX) {
        return err({ code: "limit_reached", what: "groups in this network", limit: GROUPS_MAX } as const);
      }
      const group = { id: groupIds.make(deps.random), networkId: network.id, name, description, createdAt: now };
      await insertGroup(tx, group);
      const view = groupView({ ...group, peerCount: 0 });
      const note = { action: "groups.create", objectId: group.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
      return ok(view);
    });
  return create().catch((error: unknown) => {
    if (isDuplicate(error, "groups_name_unique")) return err({ code: "name_taken", name } as const);
    throw error;
  });
}
