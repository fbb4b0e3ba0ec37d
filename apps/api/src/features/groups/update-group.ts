import { err, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { changeGroup, findGroup } from "../../db/groups-repository.ts";
import { lockNetwork } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Changes what a group is called; nodes know nothing of names of groups. */
export async function updateGroup(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof groupsContract.update>,
): Outcome<typeof groupsContract.update> {
  const now = new Date(deps.clock.nowMs());
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const networkId = (await findGroup(tx, input.groupId))?.networkId;
      if (networkId) await lockNetwork(tx, networkId);
      const before = await findGroup(tx, input.groupId);
      if (!before) return err({ code: "not_found", what: "group" } as const);
      const fits = checkVersion(call, tagOf("group", groupView(before)));
      if (!fits.ok) return fits;
      const after = {
        ...before,
        name: input.name ?? before.name,
        description: input.description ?? before.description,
      };
      if (after.name !== before.name || after.description !== before.description) {
        await changeGroup(tx, before.id, { name: after.name, description: after.description });
        const note = { action: "groups.update", objectId: before.id, networkId: before.networkId };
        await recordAudit(tx, call, { ...note, before: groupView(before), after: groupView(after), at: now });
      }
      return ok(groupView(after));
    });
  return update().catch((error: unknown) => {
    if (isDuplicate(error, "groups_name_unique")) return err({ code: "name_taken", name: input.name ?? "" } as const);
    throw error;
  });
}
