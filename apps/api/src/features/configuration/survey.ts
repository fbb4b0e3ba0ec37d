import { ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { peerNames } from "../../db/peers-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { contracts } from "../../registry/contracts.ts";
import { FORMAT, NetworkPartSchema } from "./document.ts";
import type { ConfigurationDocument, NetworkPart } from "./document.ts";
import { differences, sorted } from "./kind.ts";
import type { Change, DiffOptions, Found, Kind } from "./kind.ts";
import {
  concealProfilesKind,
  enrolmentKeysKind,
  groupsKind,
  nameRecordsKind,
  nameserversKind,
  nameSettingsKind,
} from "./network-kinds.ts";
import { policyKind } from "./policy-kind.ts";
import { routeApproversKind, routesKind } from "./routing-kinds.ts";
import { networksKind, serviceAccountsKind, webhooksKind } from "./server-kinds.ts";
import { everything, nameTable } from "./work.ts";
import type { Place, Work } from "./work.ts";

/** What one section of a file is about: what the server has of it, and what the file would change. */
export type Surveyed<Item = unknown> = {
  readonly section: string;
  /** What the server has, in the order of their names. */
  readonly found: readonly Found<Item>[];
  readonly changes: readonly Change[];
};

/** Reads a section, and compares it with the file when there is one. */
type Surveyor<Wanted, Where, Item = unknown> = (
  work: Work,
  place: Where,
  request: { readonly wanted: Wanted | undefined; readonly options: DiffOptions },
) => Promise<Result<Surveyed<Item>, Failure>>;

/** A list of things that go by their names. */
function listOf<Item, Where extends Place | null>(kind: Kind<Item, Where>): Surveyor<readonly Item[], Where, Item> {
  return async (work, place, { wanted, options }) => {
    const read = place !== null && place.id === undefined ? ok([]) : await kind.read(work, place);
    if (!read.ok) return read;
    const found = sorted(kind, read.value);
    const changes = wanted ? differences(kind, place, { found, wanted, options }) : [];
    return ok({ section: kind.kind, found, changes });
  };
}

/** A document that every network has exactly one of. */
function documentOf<Item>(kind: Kind<Item, Place>): Surveyor<Item, Place, Item> {
  const list = listOf(kind);
  return (work, place, { wanted, options }) =>
    list(work, place, { wanted: wanted === undefined ? undefined : [wanted], options });
}

const SURVEYORS = {
  groups: listOf(groupsKind),
  concealProfiles: listOf(concealProfilesKind),
  policy: documentOf(policyKind),
  routeApprovers: listOf(routeApproversKind),
  routes: listOf(routesKind),
  nameSettings: documentOf(nameSettingsKind),
  nameservers: listOf(nameserversKind),
  nameRecords: listOf(nameRecordsKind),
  enrolmentKeys: listOf(enrolmentKeysKind),
};
type Section = keyof typeof SURVEYORS;
const SECTIONS: readonly Section[] = [
  "groups",
  "concealProfiles",
  "policy",
  "routeApprovers",
  "routes",
  "nameSettings",
  "nameservers",
  "nameRecords",
  "enrolmentKeys",
];

/** Networks by themselves, without what is inside them. */
export const surveyNetworks = listOf(networksKind);
export const surveyWebhooks = listOf(webhooksKind);
export const surveyServiceAccounts = listOf(serviceAccountsKind);

/** Every section that `part` manages. */
export async function surveyNetwork(
  work: Work,
  place: Place,
  request: { readonly part: NetworkPart | "all"; readonly options: DiffOptions },
): Promise<Result<readonly Surveyed[], Failure>> {
  const surveyed: Surveyed[] = [];
  for (const section of SECTIONS) {
    const { part, options } = request;
    if (part !== "all" && part[section] === undefined) continue;
    const one = await surveySection(section, work, { place, part, options });
    if (!one.ok) return one;
    surveyed.push(one.value);
  }
  return ok(surveyed);
}

function surveySection(
  section: Section,
  work: Work,
  {
    place,
    part,
    options,
  }: { readonly place: Place; readonly part: NetworkPart | "all"; readonly options: DiffOptions },
): Promise<Result<Surveyed, Failure>> {
  const wanted = part === "all" ? undefined : part[section];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- surveyors and parts go by the same names
  const surveyor = SURVEYORS[section] as Surveyor<unknown, Place>;
  return surveyor(work, place, { wanted, options });
}

/** A network with the names of what is in it. */
export async function placeOf(
  work: Work,
  network: { readonly id: string | undefined; readonly name: string },
): Promise<Result<Place, Failure>> {
  const { id, name } = network;
  if (id === undefined) return ok({ network: name, id, groups: nameTable([]), peers: nameTable([]) });
  const groups = await everything(work, contracts.groups.list, { networkId: id });
  if (!groups.ok) return groups;
  return ok({
    network: name,
    id,
    groups: nameTable(groups.value.map((group): [string, string] => [group.id, group.name])),
    peers: nameTable(await peerNames(work.tx, id)),
  });
}

/** Everything the server has, as a file says it. */
export async function surveyAll(work: Work): Promise<Result<ConfigurationDocument, Failure>> {
  const request = { wanted: undefined, options: { prune: false, absentPeers: "refuse" } } as const;
  const networks = await surveyNetworks(work, null, request);
  if (!networks.ok) return networks;
  const parts: NetworkPart[] = [];
  for (const { id, item } of networks.value.found) {
    const place = await placeOf(work, { id, name: item.name });
    if (!place.ok) return place;
    const inside = await surveyNetwork(work, place.value, { part: "all", options: request.options });
    if (!inside.ok) return inside;
    const sections = inside.value.map(({ section, found }) => {
      const items = found.map((one) => one.item);
      return [section, isDocument(section) ? items[0] : items] as const;
    });
    // Each section was read as what a network has there; the schema says so once more.
    parts.push(NetworkPartSchema.parse({ ...item, ...Object.fromEntries(sections) }));
  }
  const webhooks = await surveyWebhooks(work, null, request);
  if (!webhooks.ok) return webhooks;
  const serviceAccounts = await surveyServiceAccounts(work, null, request);
  if (!serviceAccounts.ok) return serviceAccounts;
  return ok({
    weft: FORMAT,
    networks: parts,
    webhooks: webhooks.value.found.map(({ item }) => item),
    serviceAccounts: serviceAccounts.value.found.map(({ item }) => item),
  });
}

function isDocument(section: string): boolean {
  return section === "policy" || section === "nameSettings";
}
