import { err, groupIds, nameserverGroupIds, ok } from "@weft/protocol";
import type { Endpoint, NetworkId, Result } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import type { Executor } from "../../db/client.ts";
import {
  countNameservers,
  deleteNameservers,
  findNameservers,
  listNameservers as readNameservers,
  saveNameservers,
} from "../../db/names-repository.ts";
import type { StoredNameservers } from "../../db/names-repository.ts";
import { findNetwork, lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import { normalDomain, parseNameserver } from "../../domain/names.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { nameserversSpec } from "./contract.ts";
import type { nameserversContract } from "./contract.ts";
import { domainsFault, groupsFault } from "./name-checks.ts";
import { nameserversView } from "./name-views.ts";

/** Lists the nameserver groups of a network. */
export async function listNameservers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof nameserversContract.list>,
): Outcome<typeof nameserversContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const read = (request: Parameters<typeof readNameservers>[2]) => readNameservers(db, network.id, request);
  return answerList(deps, { spec: nameserversSpec, scope: network.id, input, read, view: nameserversView });
}

/** Shows one nameserver group. */
export async function getNameservers(
  deps: FeatureDeps,
  _call: Call,
  { nameserversId }: InputOf<typeof nameserversContract.get>,
): Outcome<typeof nameserversContract.get> {
  const group = await findNameservers(deps.database.db, nameserversId);
  return group ? ok(nameserversView(group)) : err({ code: "not_found", what: "nameserver group" });
}

/** Lets nodes ask servers about some domains, or about everything. */
export async function createNameservers(
  deps: FeatureDeps,
  call: Call,
  { networkId, ...input }: InputOf<typeof nameserversContract.create>,
): Outcome<typeof nameserversContract.create> {
  const at = new Date(deps.clock.nowMs());
  const said = readSettings(input);
  if (!said.ok) return said;
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const network = await lockNetwork(tx, networkId);
      if (!network) return err({ code: "not_found", what: "network" } as const);
      const id = nameserverGroupIds.make(deps.random);
      const group: StoredNameservers = { ...said.value, id, networkId: network.id, createdAt: at };
      const fault = (await groupsOf(tx, group)) ?? (await fullFault(tx, network.id));
      if (fault) return err(fault);
      await saveNameservers(tx, group);
      await publishChanges(tx, network.id, { changes: [{ kind: "names" }], at });
      const view = nameserversView(group);
      const note = { action: "nameservers.create", objectId: group.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: null, after: view, at });
      return ok(view);
    });
  return create().catch((error: unknown) => alreadyThere(error, input.name));
}

/** Changes a nameserver group; what is left out stays. */
export async function updateNameservers(
  deps: FeatureDeps,
  call: Call,
  { nameserversId, ...wanted }: InputOf<typeof nameserversContract.update>,
): Outcome<typeof nameserversContract.update> {
  const at = new Date(deps.clock.nowMs());
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const before = await lockGroup(tx, call, nameserversId);
      if (!before.ok) return before;
      const old = nameserversView(before.value);
      const said = readSettings({
        name: wanted.name ?? old.name,
        description: wanted.description ?? old.description,
        servers: wanted.servers ?? old.servers,
        domains: wanted.domains ?? old.domains,
        groupIds: wanted.groupIds ?? old.groupIds,
        state: wanted.state ?? old.state,
      });
      if (!said.ok) return said;
      const after: StoredNameservers = { ...before.value, ...said.value };
      const fault = await groupsOf(tx, after);
      if (fault) return err(fault);
      const view = nameserversView(after);
      if (JSON.stringify(old) !== JSON.stringify(view)) {
        await saveNameservers(tx, after);
        await publishChanges(tx, after.networkId, { changes: [{ kind: "names" }], at });
        const note = { action: "nameservers.update", objectId: after.id, networkId: after.networkId };
        await recordAudit(tx, call, { ...note, before: old, after: view, at });
      }
      return ok(view);
    });
  return update().catch((error: unknown) => alreadyThere(error, wanted.name ?? ""));
}

/** Removes a nameserver group; nodes are told. */
export async function removeNameservers(
  deps: FeatureDeps,
  call: Call,
  { nameserversId }: InputOf<typeof nameserversContract.remove>,
): Outcome<typeof nameserversContract.remove> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const before = await lockGroup(tx, call, nameserversId);
    if (!before.ok) return before;
    const { id, networkId } = before.value;
    await deleteNameservers(tx, id);
    await publishChanges(tx, networkId, { changes: [{ kind: "names" }], at });
    const note = { action: "nameservers.remove", objectId: id, networkId };
    await recordAudit(tx, call, { ...note, before: nameserversView(before.value), after: null, at });
    return ok(undefined);
  });
}

type Said = Omit<InputOf<typeof nameserversContract.create>, "networkId">;
type Settings = Omit<StoredNameservers, "id" | "networkId" | "createdAt">;

function readSettings(said: Said): Result<Settings, Failure> {
  const domains = said.domains.map(normalDomain);
  const fault = domainsFault("domains", domains);
  if (fault) return err(fault);
  const servers: Endpoint[] = [];
  for (const [place, text] of said.servers.entries()) {
    const server = parseNameserver(text);
    if (server === undefined) {
      const reason = `${text} is not an address; write 192.0.2.1, 192.0.2.1:53, 2001:db8::1 or [2001:db8::1]:53`;
      return err({ code: "name_fault", field: `servers/${place}`, reason });
    }
    servers.push(server);
  }
  return ok({ ...said, domains, servers, groupIds: said.groupIds.filter(groupIds.is) });
}

async function lockGroup(tx: Executor, call: Call, id: string): Promise<Result<StoredNameservers, Failure>> {
  const networkId = (await findNameservers(tx, id))?.networkId;
  if (networkId) await lockNetwork(tx, networkId);
  const group = await findNameservers(tx, id);
  if (!group) return err({ code: "not_found", what: "nameserver group" });
  const fits = checkVersion(call, tagOf("nameservers", nameserversView(group)));
  return fits.ok ? ok(group) : fits;
}

function groupsOf(tx: Executor, group: StoredNameservers): Promise<Failure | undefined> {
  return groupsFault(tx, group.networkId, { field: "groupIds", ids: group.groupIds });
}

async function fullFault(tx: Executor, networkId: NetworkId): Promise<Failure | undefined> {
  if ((await countNameservers(tx, networkId)) < GROUPS_MAX) return undefined;
  const reason = `a network has at most ${GROUPS_MAX} nameserver groups; remove some first`;
  return { code: "name_fault", field: "name", reason };
}

function alreadyThere(error: unknown, name: string): Result<never, Failure> {
  if (isDuplicate(error, "nameserver_groups_name_unique")) return err({ code: "name_taken", name });
  throw error;
}

const GROUPS_MAX = 100;
