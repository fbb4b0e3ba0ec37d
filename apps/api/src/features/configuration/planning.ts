import { createHash } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { lockNetwork, lockNetworkCreation } from "../../db/networks-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { ConfigurationDocument } from "./document.ts";
import { canonical } from "./kind.ts";
import type { Change, DiffOptions } from "./kind.ts";
import { placeOf, surveyNetwork, surveyNetworks, surveyServiceAccounts, surveyWebhooks } from "./survey.ts";
import type { Surveyed } from "./survey.ts";
import type { Place, Work } from "./work.ts";

/** What would be done, in the order in which it is done. */
export type Plan = {
  /** Stands for the state of the server, the file and the options; another one when any of them is. */
  readonly tag: string;
  readonly changes: readonly Change[];
};

/** Compares a file with the server; everything that the file is about stays locked until the transaction ends. */
export async function planIn(
  work: Work,
  document: ConfigurationDocument,
  options: DiffOptions,
): Promise<Result<Plan, Failure>> {
  const request = { options, wanted: undefined };
  // Nobody makes a network in between; changes of those that are there wait.
  await lockNetworkCreation(work.tx);
  const known = await surveyNetworks(work, null, { ...request, wanted: document.networks });
  if (!known.ok) return known;
  for (const { id } of known.value.found.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    await lockNetwork(work.tx, id);
  }
  // Read again: what was seen before the locks may have moved.
  const networks = await surveyNetworks(work, null, { ...request, wanted: document.networks });
  if (!networks.ok) return networks;
  const surveyed: Surveyed[] = [networks.value];
  const idOf = new Map(networks.value.found.map(({ id, item }) => [item.name.toLowerCase(), id]));
  for (const part of document.networks ?? []) {
    const place = await placeOf(work, { id: idOf.get(part.name.toLowerCase()), name: part.name });
    if (!place.ok) return place;
    const inside = await surveyNetwork(work, place.value, { part, options });
    if (!inside.ok) return inside;
    surveyed.push(...inside.value.map((one) => ({ ...one, changes: one.changes.map(inPlace(place.value)) })));
  }
  if (document.webhooks) {
    const webhooks = await surveyWebhooks(work, null, { wanted: document.webhooks, options });
    if (!webhooks.ok) return webhooks;
    surveyed.push(webhooks.value);
  }
  if (document.serviceAccounts) {
    const accounts = await surveyServiceAccounts(work, null, { wanted: document.serviceAccounts, options });
    if (!accounts.ok) return accounts;
    surveyed.push(accounts.value);
  }
  const changes = surveyed.flatMap((one) => one.changes);
  if (changes.length > CHANGES_MAX) {
    return err({ code: "work_bound", what: "changes", wanted: changes.length, limit: CHANGES_MAX });
  }
  const state = surveyed.map(({ section, found }) => [section, found]);
  return ok({
    tag: createHash("sha256")
      .update(canonical([state, document, options]))
      .digest("base64url")
      .slice(0, 22),
    changes: [...changes.filter(({ isLast }) => !isLast), ...changes.filter(({ isLast }) => isLast)],
  });
}

/** Looks up the id of a network that was made since the plan was. */
function inPlace(place: Place): (change: Change) => Change {
  return (change) => ({
    ...change,
    async make(work) {
      if (place.id === undefined) {
        const made = await surveyNetworks(work, null, { wanted: undefined, options: NOTHING });
        if (!made.ok) return made;
        place.id = made.value.found.find(({ item }) => item.name === place.network)?.id;
      }
      return change.make(work);
    },
  });
}

/** Makes the changes one after the other; the first that cannot be ends it. */
export async function carryOut(
  work: Work,
  { changes }: Plan,
): Promise<Result<void, { readonly change: Change; readonly failure: Failure }>> {
  for (const change of changes) {
    if (change.state !== "planned") continue;
    const made = await change.make(work);
    change.dangers.push(...work.warnings.splice(0));
    if (!made.ok) return err({ change, failure: made.error });
  }
  return ok(undefined);
}

/** Where a change stands, for people: `office/groups/ops`. */
export function pathOf({ network, kind, name }: Pick<Change, "network" | "kind" | "name">): string {
  return [network, kind, name].filter((part) => part !== null && part !== "").join("/");
}

/** More changes at a time would hold their locks for too long. */
const CHANGES_MAX = 5_000;
const NOTHING: DiffOptions = { prune: false, absentPeers: "refuse" };
