import { err, ok } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { changeNetwork, findNetwork, lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import type { NetworkSettings } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { networkView } from "../../registry/views.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { networksContract } from "./contract.ts";

/** Changes the settings of a network; agents are told. */
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
      const old = settingsOf(before);
      const settings = settingsAfter(old, input);
      if (JSON.stringify(old) !== JSON.stringify(settings)) {
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

function settingsOf(network: NetworkSettings): NetworkSettings {
  const { name, profileFallback, approval, membershipSeconds, idleRemovalSeconds, flowSampling, flowKeepHours } =
    network;
  return { name, profileFallback, approval, membershipSeconds, idleRemovalSeconds, flowSampling, flowKeepHours };
}

/** What is left out stays; a limit of null is taken away. */
function settingsAfter(old: NetworkSettings, input: InputOf<typeof networksContract.update>): NetworkSettings {
  return {
    name: input.name ?? old.name,
    profileFallback: input.profileFallback ?? old.profileFallback,
    approval: input.approval ?? old.approval,
    membershipSeconds: input.membershipSeconds === undefined ? old.membershipSeconds : input.membershipSeconds,
    idleRemovalSeconds: input.idleRemovalSeconds === undefined ? old.idleRemovalSeconds : input.idleRemovalSeconds,
    flowSampling: input.flowSampling === undefined ? old.flowSampling : input.flowSampling,
    flowKeepHours: input.flowKeepHours ?? old.flowKeepHours,
  };
}
