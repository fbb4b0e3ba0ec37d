import { err, isRecordName, nameRecordIds, ok } from "@weft/protocol";
import type { NameRecord, NetworkId, Result } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import type { Executor } from "../../db/client.ts";
import {
  countRecords,
  deleteRecord,
  findRecord,
  listRecords as readRecords,
  recordsNamed,
  saveRecord,
} from "../../db/names-repository.ts";
import type { StoredRecord } from "../../db/names-repository.ts";
import { findNetwork, lockNetwork, publishChanges } from "../../db/networks-repository.ts";
import { namesLike } from "../../db/peers-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import { normalDomain, parseRecord } from "../../domain/names.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { recordsSpec } from "./contract.ts";
import type { nameRecordsContract } from "./contract.ts";
import { recordView } from "./name-views.ts";

/** Lists the records of a network. */
export async function listRecords(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof nameRecordsContract.list>,
): Outcome<typeof nameRecordsContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const read = (request: Parameters<typeof readRecords>[2]) => readRecords(db, network.id, request);
  return answerList(deps, { spec: recordsSpec, scope: network.id, input, read, view: recordView });
}

/** Shows one record. */
export async function getRecord(
  deps: FeatureDeps,
  _call: Call,
  { recordId }: InputOf<typeof nameRecordsContract.get>,
): Outcome<typeof nameRecordsContract.get> {
  const record = await findRecord(deps.database.db, recordId);
  return record ? ok(recordView(record)) : err({ code: "not_found", what: "record" });
}

/** Gives a name to an address or to another name; nodes are told. */
export async function createRecord(
  deps: FeatureDeps,
  call: Call,
  { networkId, description, ...input }: InputOf<typeof nameRecordsContract.create>,
): Outcome<typeof nameRecordsContract.create> {
  const at = new Date(deps.clock.nowMs());
  const said = readRecord(input);
  if (!said.ok) return said;
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const network = await lockNetwork(tx, networkId);
      if (!network) return err({ code: "not_found", what: "network" } as const);
      const id = nameRecordIds.make(deps.random);
      const record: StoredRecord = { ...said.value, id, networkId: network.id, description, createdAt: at };
      const fault = (await recordFault(tx, network.id, record)) ?? (await fullFault(tx, network.id));
      if (fault) return err(fault);
      await saveRecord(tx, record);
      await publishChanges(tx, network.id, { changes: [{ kind: "names" }], at });
      const view = recordView(record);
      const note = { action: "nameRecords.create", objectId: record.id, networkId: network.id };
      await recordAudit(tx, call, { ...note, before: null, after: view, at });
      return ok(view);
    });
  return create().catch((error: unknown) => alreadyThere(error, said.value));
}

/** Changes a record; what is left out stays. */
export async function updateRecord(
  deps: FeatureDeps,
  call: Call,
  { recordId, ...wanted }: InputOf<typeof nameRecordsContract.update>,
): Outcome<typeof nameRecordsContract.update> {
  const at = new Date(deps.clock.nowMs());
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const before = await lockRecord(tx, call, recordId);
      if (!before.ok) return before;
      const old = recordView(before.value);
      const said = readRecord({
        name: wanted.name ?? old.name,
        type: wanted.type ?? old.type,
        value: wanted.value ?? old.value,
        ttlSeconds: wanted.ttlSeconds ?? old.ttlSeconds,
      });
      if (!said.ok) return said;
      const { id, networkId, createdAt } = before.value;
      const description = wanted.description ?? old.description;
      const after: StoredRecord = { ...said.value, id, networkId, description, createdAt };
      const fault = await recordFault(tx, networkId, after);
      if (fault) return err(fault);
      const view = recordView(after);
      if (JSON.stringify(old) !== JSON.stringify(view)) {
        await saveRecord(tx, after);
        await publishChanges(tx, networkId, { changes: [{ kind: "names" }], at });
        const note = { action: "nameRecords.update", objectId: id, networkId };
        await recordAudit(tx, call, { ...note, before: old, after: view, at });
      }
      return ok(view);
    });
  return update().catch((error: unknown) => alreadyThere(error, { name: wanted.name ?? "" }));
}

/** Removes a record; nodes are told. */
export async function removeRecord(
  deps: FeatureDeps,
  call: Call,
  { recordId }: InputOf<typeof nameRecordsContract.remove>,
): Outcome<typeof nameRecordsContract.remove> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const before = await lockRecord(tx, call, recordId);
    if (!before.ok) return before;
    const { id, networkId } = before.value;
    await deleteRecord(tx, id);
    await publishChanges(tx, networkId, { changes: [{ kind: "names" }], at });
    const note = { action: "nameRecords.remove", objectId: id, networkId };
    await recordAudit(tx, call, { ...note, before: recordView(before.value), after: null, at });
    return ok(undefined);
  });
}

type RecordInput = Parameters<typeof parseRecord>[0];

function readRecord(input: RecordInput): Result<NameRecord, Failure> {
  const name = normalDomain(input.name);
  if (isRecordName(name)) return parseRecord({ ...input, name, value: input.value.trim() });
  const reason = "a name has letters, digits, dashes and dots only; @ is the domain itself";
  return err({ code: "name_fault", field: "name", reason });
}

async function lockRecord(tx: Executor, call: Call, recordId: string): Promise<Result<StoredRecord, Failure>> {
  const networkId = (await findRecord(tx, recordId))?.networkId;
  if (networkId) await lockNetwork(tx, networkId);
  const record = await findRecord(tx, recordId);
  if (!record) return err({ code: "not_found", what: "record" });
  const fits = checkVersion(call, tagOf("nameRecord", recordView(record)));
  return fits.ok ? ok(record) : fits;
}

/** Why a record cannot stand beside the others. */
async function recordFault(
  tx: Executor,
  networkId: NetworkId,
  record: Pick<StoredRecord, "id" | "name" | "type">,
): Promise<Failure | undefined> {
  const { name, type } = record;
  if ((await namesLike(tx, networkId, name)).has(name)) return { code: "name_taken", name };
  const others = (await recordsNamed(tx, networkId, name)).filter(({ id }) => id !== record.id);
  const isAlone = others.length === 0;
  if (isAlone || (type !== "CNAME" && others.every((other) => other.type !== "CNAME"))) return undefined;
  const reason = "a name that is another name (CNAME) has no other record";
  return { code: "name_fault", field: "type", reason };
}

async function fullFault(tx: Executor, networkId: NetworkId): Promise<Failure | undefined> {
  if ((await countRecords(tx, networkId)) < RECORDS_MAX) return undefined;
  return {
    code: "name_fault",
    field: "name",
    reason: `a network has at most ${RECORDS_MAX} records; remove some first`,
  };
}

function alreadyThere(error: unknown, { name }: Pick<NameRecord, "name">): Result<never, Failure> {
  if (isDuplicate(error, "name_records_unique")) return err({ code: "name_taken", name });
  throw error;
}

const RECORDS_MAX = 2_000;
