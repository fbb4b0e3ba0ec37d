import { concealProfileIds, err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { isDuplicate } from "../../db/client.ts";
import {
  addConcealVersion,
  changeConceal,
  concealVersionsOf,
  deleteConceal,
  findConceal,
  insertConceal,
} from "../../db/conceal-repository.ts";
import type { StoredConceal } from "../../db/conceal-repository.ts";
import { findNetwork, lockNetwork } from "../../db/networks-repository.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { concealDetail, concealView } from "./conceal-views.ts";
import type { concealContract } from "./contract.ts";
import { readSource } from "./read-source.ts";

/** Creates a profile; nobody uses it yet. */
export async function createConceal(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof concealContract.create>,
): Outcome<typeof concealContract.create> {
  const now = new Date(deps.clock.nowMs());
  const source = readSource(deps, input);
  if (!source.ok) return source;
  const first = source.value;
  if (!first) return err({ code: "conceal_fault", key: "preset", rule: "name a preset, or send a file as conf" });
  const create = () =>
    transact(deps.database.db, async (tx) => {
      const network = await lockNetwork(tx, input.networkId);
      if (!network) return err({ code: "not_found", what: "network" } as const);
      const profile: StoredConceal = {
        id: concealProfileIds.make(deps.random),
        networkId: network.id,
        name: input.name,
        description: input.description,
        version: 1,
        createdAt: now,
      };
      const version = { ...first, version: 1, createdAt: now };
      await insertConceal(tx, profile, version);
      const note = { action: "conceal.create", objectId: profile.id, networkId: network.id, at: now };
      await recordAudit(tx, call, { ...note, before: null, after: { ...concealView(profile), origin: first.origin } });
      return ok(concealDetail(profile, [version]));
    });
  return create().catch(nameTaken(input.name));
}

/** Renames a profile, or adds a version. */
export async function updateConceal(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof concealContract.update>,
): Outcome<typeof concealContract.update> {
  const now = new Date(deps.clock.nowMs());
  const source = readSource(deps, input);
  if (!source.ok) return source;
  const update = () =>
    transact(deps.database.db, async (tx) => {
      const locked = await lockConceal(tx, call, input.concealProfileId);
      if (!locked.ok) return locked;
      const before = locked.value;
      const after: StoredConceal = {
        ...before,
        name: input.name ?? before.name,
        description: input.description ?? before.description,
        version: before.version + (source.value ? 1 : 0),
      };
      if (source.value)
        await addConcealVersion(tx, before.id, { ...source.value, version: after.version, createdAt: now });
      if (JSON.stringify(after) !== JSON.stringify(before)) {
        await changeConceal(tx, before.id, {
          name: after.name,
          description: after.description,
          version: after.version,
        });
        const note = { action: "conceal.update", objectId: before.id, networkId: before.networkId, at: now };
        const origin = source.value?.origin;
        const shown = { ...concealView(after), ...(origin !== undefined && { origin }) };
        await recordAudit(tx, call, { ...note, before: concealView(before), after: shown });
      }
      return ok(concealDetail(after, await concealVersionsOf(tx, before.id)));
    });
  return update().catch(nameTaken(input.name ?? ""));
}

/** Removes a profile that stands in no plan. */
export async function removeConceal(
  deps: FeatureDeps,
  call: Call,
  { concealProfileId }: InputOf<typeof concealContract.remove>,
): Outcome<typeof concealContract.remove> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const locked = await lockConceal(tx, call, concealProfileId);
    if (!locked.ok) return locked;
    const before = locked.value;
    const network = await findNetwork(tx, before.networkId);
    const plan = network?.conceal;
    if (network && [plan?.base, plan?.next].some((choice) => choice?.profileId === before.id)) {
      return err({ code: "in_use", what: "conceal profile", users: [`network ${network.name}`] });
    }
    await deleteConceal(tx, before.id);
    const note = { action: "conceal.remove", objectId: before.id, networkId: before.networkId, at: now };
    await recordAudit(tx, call, { ...note, before: concealView(before), after: null });
    return ok(undefined);
  });
}

async function lockConceal(tx: Executor, call: Call, id: string): Promise<Result<StoredConceal, Failure>> {
  const networkId = (await findConceal(tx, id))?.networkId;
  if (networkId) await lockNetwork(tx, networkId);
  const profile = await findConceal(tx, id);
  if (!profile) return err({ code: "not_found", what: "conceal profile" });
  const fits = checkVersion(call, tagOf("concealProfile", concealView(profile)));
  return fits.ok ? ok(profile) : fits;
}

function nameTaken(name: string) {
  return (error: unknown) => {
    if (isDuplicate(error, "conceal_profiles_name_unique")) return err({ code: "name_taken", name } as const);
    throw error;
  };
}
