import { err, ok } from "@weft/protocol";
import { deleteGroup, findGroup } from "../../db/groups-repository.ts";
import type { Group } from "../../db/groups-repository.ts";
import { selectorKey } from "../../domain/policy-rule.ts";
import { lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { nameserversOfGroup, readNameSettings } from "../../db/names-repository.ts";
import { rulesNaming } from "../../db/rules-repository.ts";
import type { Executor } from "../../db/client.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Removes a group; its peers stay, without it. */
export async function removeGroup(
  deps: FeatureDeps,
  call: Call,
  { groupId }: InputOf<typeof groupsContract.remove>,
): Outcome<typeof groupsContract.remove> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const networkId = (await findGroup(tx, groupId))?.networkId;
    if (networkId) await lockNetwork(tx, networkId);
    const before = await findGroup(tx, groupId);
    if (!before) return err({ code: "not_found", what: "group" });
    const fits = checkVersion(call, tagOf("group", groupView(before)));
    if (!fits.ok) return fits;
    const users = await usersOf(tx, before);
    if (users.length > 0) return err({ code: "in_use", what: "group", users });
    const members = await deleteGroup(tx, before);
    const changes = members.map((peerId) => ({ kind: "peer", peerId }) as const);
    if (changes.length > 0) await publishChanges(tx, before.networkId, { changes, at: now });
    const note = { action: "groups.remove", objectId: before.id, networkId: before.networkId };
    await recordAudit(tx, call, { ...note, before: { ...groupView(before), members }, after: null, at: now });
    return ok(undefined);
  });
}

/** What names a group, as a person would look for them. */
async function usersOf(tx: Executor, group: Group): Promise<string[]> {
  const rules = await rulesNaming(tx, group.id);
  const { tests } = await readPolicy(tx, group.networkId);
  const naming = tests.filter(({ from, to }) => selectorKey(from) === group.id || selectorKey(to) === group.id);
  const nameservers = await nameserversOfGroup(tx, group.id);
  const { leftAloneGroupIds } = await readNameSettings(tx, group.networkId);
  return [
    ...nameservers.map(({ name }) => `nameservers ${name}`),
    ...(leftAloneGroupIds.includes(group.id) ? ["the settings of names"] : []),
    ...rules.map(({ id, name }) => (name === "" ? `rule ${id}` : `rule ${id} (${name})`)),
    ...naming.map(({ name }) => `test ${name}`),
  ];
}
