import { err, groupIds, ok } from "@weft/protocol";
import { findNetwork, lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { readNameSettings, writeNameSettings } from "../../db/names-repository.ts";
import { transact } from "../../db/transact.ts";
import { domainFault, normalDomain } from "../../domain/names.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import type { nameSettingsContract } from "./contract.ts";
import { domainsFault, groupsFault } from "./name-checks.ts";
import { settingsView } from "./name-views.ts";

/** Shows the settings of a network's names. */
export async function getSettings(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof nameSettingsContract.get>,
): Outcome<typeof nameSettingsContract.get> {
  const network = await findNetwork(deps.database.db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return ok(settingsView(network.id, await readNameSettings(deps.database.db, network.id)));
}

/** Replaces the settings of a network's names; nodes are told. */
export async function replaceSettings(
  deps: FeatureDeps,
  call: Call,
  { networkId, ...wanted }: InputOf<typeof nameSettingsContract.replace>,
): Outcome<typeof nameSettingsContract.replace> {
  const at = new Date(deps.clock.nowMs());
  const after = {
    state: wanted.state,
    domain: normalDomain(wanted.domain),
    searchDomains: wanted.searchDomains.map(normalDomain),
    leftAloneGroupIds: wanted.leftAloneGroupIds.filter(groupIds.is),
  };
  const reason = domainFault(after.domain);
  if (reason !== undefined) return err({ code: "name_fault", field: "domain", reason });
  const searchFault = domainsFault("searchDomains", after.searchDomains);
  if (searchFault) return err(searchFault);
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const before = await readNameSettings(tx, network.id);
    const [seen, view] = [settingsView(network.id, before), settingsView(network.id, after)];
    const fits = checkVersion(call, tagOf("nameSettings", seen));
    if (!fits.ok) return fits;
    const fault = await groupsFault(tx, network.id, { field: "leftAloneGroupIds", ids: after.leftAloneGroupIds });
    if (fault) return err(fault);
    if (JSON.stringify(seen) !== JSON.stringify(view)) {
      await writeNameSettings(tx, network.id, after);
      await publishChanges(tx, network.id, { changes: [{ kind: "names" }], at });
      const note = { action: "nameSettings.replace", objectId: network.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: seen, after: view, at });
    }
    return ok(view);
  });
}
