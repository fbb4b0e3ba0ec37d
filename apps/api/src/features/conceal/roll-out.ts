import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { readNetwork } from "../../db/changes-repository.ts";
import type { Executor } from "../../db/client.ts";
import { findConceal, findConcealVersion } from "../../db/conceal-repository.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import { lockNetwork } from "../../db/networks-repository.ts";
import { storedGroupId } from "../../db/rows.ts";
import { transact } from "../../db/transact.ts";
import { compilePolicy, maySee } from "../../domain/access-policy.ts";
import { separatedPairs, settledChoice } from "../../domain/conceal-plan.ts";
import type { ConcealChoice, ConcealPlan } from "../../domain/conceal-plan.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Network } from "../../domain/peer.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { planView, publishPlan } from "../../registry/publish-conceal-plan.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";

import type { concealContract } from "./contract.ts";

type RollOutInput = InputOf<typeof concealContract.rollOut>;

/** Gives a version of a profile to a stage. */
export async function rollOut(
  deps: FeatureDeps,
  call: Call,
  input: RollOutInput,
): Outcome<typeof concealContract.rollOut> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, input.networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const before = planView(network.id, network.conceal);
    const fits = checkVersion(call, tagOf("concealPlan", before));
    if (!fits.ok) return fits;
    const planned = await planOf(tx, network, { input, atMs: at.getTime() });
    if (!planned.ok) return planned;
    const apart = input.separation === "accept" ? undefined : await separatedBy(tx, network, planned.value);
    if (apart && apart.count > 0) {
      return err({ code: "conceal_separates", pairs: apart.count, examples: apart.examples });
    }
    const after = planView(network.id, planned.value);
    const note = { action: "conceal.rollOut", objectId: network.id, networkId: network.id, before, after };
    await publishPlan(tx, call, { network, plan: planned.value, note, at });
    return ok(after);
  });
}

/** Takes everybody back to what was used before. */
export async function rollBack(
  deps: FeatureDeps,
  call: Call,
  { networkId }: InputOf<typeof concealContract.rollBack>,
): Outcome<typeof concealContract.rollBack> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const { conceal } = network;
    if (!conceal || conceal.state === "rolled-back") return err({ code: "conceal_not_rolling" });
    const plan: ConcealPlan = { ...conceal, state: "rolled-back", reason: "somebody asked for it" };
    const [before, after] = [planView(network.id, conceal), planView(network.id, plan)];
    const note = { action: "conceal.rollBack", objectId: network.id, networkId: network.id, before, after };
    await publishPlan(tx, call, { network, plan, note, at });
    return ok(after);
  });
}

async function planOf(
  tx: Executor,
  network: Network,
  { input, atMs }: { readonly input: RollOutInput; readonly atMs: number },
): Promise<Result<ConcealPlan, Failure>> {
  const groups = [...new Set(input.groupIds)].toSorted().map(storedGroupId);
  const [unknown] = await unknownGroups(tx, network.id, groups);
  if (unknown !== undefined) return err({ code: "not_found", what: "group of this network" });
  const next = await choiceOf(tx, network, input);
  if (!next.ok) return next;
  const plan: ConcealPlan = {
    base: settledChoice(network.conceal),
    next: next.value,
    groupIds: groups,
    state: "watched",
    startedAtMs: atMs,
    watchSeconds: input.watchSeconds,
    reason: null,
  };
  return ok(plan);
}

async function choiceOf(
  tx: Executor,
  network: Network,
  { profileId, version }: RollOutInput,
): Promise<Result<ConcealChoice | null, Failure>> {
  if (profileId === null) return ok(null);
  const profile = await findConceal(tx, profileId);
  if (profile?.networkId !== network.id) return err({ code: "not_found", what: "conceal profile of this network" });
  const found = await findConcealVersion(tx, profile.id, version ?? profile.version);
  if (!found) return err({ code: "not_found", what: "version of this conceal profile" });
  return ok({ profileId: profile.id, name: profile.name, version: found.version, settings: found.settings });
}

async function separatedBy(tx: Executor, network: Network, plan: ConcealPlan) {
  const contents = await readNetwork(tx, network.id);
  const policy = compilePolicy(contents?.rules ?? []);
  return separatedPairs(plan, contents?.peers ?? [], (left, right) =>
    left.kind === "client" || right.kind === "client"
      ? left.gatewayPeerId === right.id || right.gatewayPeerId === left.id
      : maySee(policy, left, right),
  );
}
