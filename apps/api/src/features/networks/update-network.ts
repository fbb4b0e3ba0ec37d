import { err, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { changeNetwork, findNetwork, lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { networkView } from "../../registry/views.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { networksContract } from "./contract.ts";

/** Changes name or profile policy of a network; agents are told. */
export async function updateNetwork(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof networksContract.update>,
): Outcome<typeof networksContract.update> {
  const now = new Date(deps.clock.nowMs());
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const before = await lockNetwork(tx, input.networkId);
      if (!before) return err({ code: "not_found", what: "network" } as const);
      const fits = checkVersion(call, tagOf("network", before));
      if (!fits.ok) return fits;
      const old = { name: before.name, profileFallback: before.profileFallback };
      const settings = {
        name: input.name ?? old.name,
        profileFallback: input.profileFallback ?? old.profileFallback,
      };
      const isSame = settings.name === old.name && settings.profileFallback === old.profileFallback;
      if (!isSame) {
        await changeNetwork(tx, before.id, settings);
        await publishChanges(tx, before.id, { changes: [{ kind: "network" }], at: now });
        const note = { action: "networks.update", objectId: before.id, networkId: before.id };
        await recordAudit(tx, call, { ...note, before: old, after: settings, at: now });
      }
      const after = await findNetwork(tx, before.id);
      return after ? ok(networkView(after, deps.live)) : err({ code: "not_found", what: "network" } as const);
    });
  return update().catch((error: unknown) => {
    if (isDuplicate(error, "networks_name_unique")) return err({ code: "name_taken", name: input.name ?? "" } as const);
    throw error;
  });
}
