import { err, ok } from "@weft/protocol";
import { deleteNetwork, findNetwork, lockNetwork } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { networkView } from "../../registry/views.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { networksContract } from "./contract.ts";

/** Removes a network and everything in it. */
export async function removeNetwork(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof networksContract.remove>,
): Outcome<typeof networksContract.remove> {
  return transact(deps.database.db, async (tx) => {
    const locked = await lockNetwork(tx, input.networkId);
    const before = locked && (await findNetwork(tx, locked.id));
    if (!before) return err({ code: "not_found", what: "network" });
    const fits = checkVersion(call, tagOf("network", before));
    if (!fits.ok) return fits;
    await deleteNetwork(tx, before.id);
    await recordAudit(tx, call, {
      action: "networks.remove",
      objectId: before.id,
      networkId: before.id,
      before: networkView(before, deps.live),
      after: null,
      at: new Date(deps.clock.nowMs()),
    });
    return ok(undefined);
  });
}
