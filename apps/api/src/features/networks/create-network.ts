import { err, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { allNetworks, insertNetwork, lockNetworkCreation, publishChanges } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { planNetwork } from "../../domain/new-network.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { networkView } from "../../registry/views.ts";
import type { networksContract } from "./contract.ts";

/** Creates a network without any rule: nothing is allowed until somebody says so. */
export async function createNetwork(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof networksContract.create>,
): Outcome<typeof networksContract.create> {
  const now = new Date(deps.clock.nowMs());
  const create = () =>
    transact(deps.database.db, async (tx) => {
      await lockNetworkCreation(tx);
      const planned = planNetwork(input, await allNetworks(tx), { now, random: deps.random });
      if (!planned.ok) return planned;
      const network = planned.value;
      await insertNetwork(tx, network);
      await publishChanges(tx, network.id, { changes: [{ kind: "network" }], at: now });
      const view = networkView({ ...network, peerCount: 0 }, deps.live);
      const note = { action: "networks.create", objectId: network.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
      return ok(view);
    });
  return create().catch((error: unknown) => {
    if (isDuplicate(error, "networks_name_unique")) return err({ code: "name_taken", name: input.name } as const);
    throw error;
  });
}
