import { ok } from "@weft/protocol";
import { normalDomain, parseNameserver, parseRecord, recordValue } from "../../domain/names.ts";
import { contracts } from "../../registry/contracts.ts";
import type { PartOf } from "./document.ts";
import type { Kind } from "./kind.ts";
import { everything, groupIdsOf, networkIdOf } from "./work.ts";
import type { Place } from "./work.ts";

const inNetwork = (place: Place) => ({ networkId: networkIdOf(place) });

export const groupsKind: Kind<PartOf<"groups">, Place> = {
  kind: "groups",
  keyOf: ({ name }) => name.toLowerCase(),
  removedLast: true,
  async read(work, place) {
    const all = await everything(work, contracts.groups.list, inNetwork(place));
    return all.ok ? ok(all.value.map(({ id, name, description }) => ({ id, item: { name, description } }))) : all;
  },
  async create(work, place, item) {
    const made = await work.perform(contracts.groups.create, { ...inNetwork(place), ...item });
    if (made.ok) place.groups.add(made.value.id, made.value.name);
    return made;
  },
  change: (work, _place, { id, after }) => work.perform(contracts.groups.update, { groupId: id, ...after }),
  remove: (work, _place, { id }) => work.perform(contracts.groups.remove, { groupId: id }),
  dangers: (_before, after) => (after ? [] : ["its peers stay, without it"]),
};

/** Profiles by what they were drawn from: what was drawn is secret, and another one on each server. */
export const concealProfilesKind: Kind<PartOf<"concealProfiles">, Place> = {
  kind: "concealProfiles",
  keyOf: ({ name }) => name.toLowerCase(),
  removedLast: true,
  async read(work, place) {
    const all = await everything(work, contracts.conceal.list, inNetwork(place));
    if (!all.ok) return all;
    const found = [];
    for (const { id } of all.value) {
      const detail = await work.perform(contracts.conceal.get, { concealProfileId: id });
      if (!detail.ok) return detail;
      const { name, description, versions } = detail.value;
      found.push({ id, item: { name, description, preset: presetOf(versions[0]?.origin) } });
    }
    return ok(found);
  },
  create: (work, place, { name, description, preset, conf }) =>
    work.perform(contracts.conceal.create, {
      ...inNetwork(place),
      name,
      description,
      ...(preset !== null && { preset }),
      ...(conf !== undefined && { conf }),
    }),
  change: (work, _place, { id, after: { name, description } }) =>
    work.perform(contracts.conceal.update, { concealProfileId: id, name, description }),
  remove: (work, _place, { id }) => work.perform(contracts.conceal.remove, { concealProfileId: id }),
  // A profile that is there stays as it is: what it says changes by a new version and a roll-out, which are watched.
  adopt: (wanted, before) => (before ? { ...before, name: wanted.name, description: wanted.description } : wanted),
  show: ({ conf, ...shown }) => ({ ...shown, ...(conf !== undefined && { conf: "[secret]" }) }),
};

function presetOf(origin: string | undefined): PartOf<"concealProfiles">["preset"] {
  const read = contracts.conceal.create.input.shape.preset.safeParse(origin);
  return read.success ? (read.data ?? null) : null;
}

export const nameSettingsKind: Kind<PartOf<"nameSettings">, Place> = {
  kind: "nameSettings",
  keyOf: () => "",
  async read(work, place) {
    const settings = await work.perform(contracts.nameSettings.get, inNetwork(place));
    if (!settings.ok) return settings;
    const { state, domain, searchDomains, leftAloneGroupIds } = settings.value;
    const leftAloneGroups = leftAloneGroupIds.map(place.groups.nameOf).toSorted();
    return ok([{ id: networkIdOf(place), item: { state, domain, searchDomains, leftAloneGroups } }]);
  },
  create: (work, place, item) => replaceSettings(work, place, item),
  change: (work, place, { after }) => replaceSettings(work, place, after),
  // A network always has them.
  remove: () => Promise.resolve(ok(undefined)),
  adopt: (wanted) => ({
    ...wanted,
    domain: normalDomain(wanted.domain),
    searchDomains: wanted.searchDomains.map(normalDomain),
    leftAloneGroups: wanted.leftAloneGroups.toSorted(),
  }),
  dangers(before, after) {
    if (before?.state === "on" && after?.state === "off") return ["nodes answer no names any more"];
    return before && before.domain !== after?.domain ? ["every name of this network changes"] : [];
  },
};

const replaceSettings: Kind<PartOf<"nameSettings">, Place>["create"] = async (work, place, item) => {
  const { leftAloneGroups, ...settings } = item;
  const ids = groupIdsOf(place, leftAloneGroups);
  if (!ids.ok) return ids;
  const input = { ...inNetwork(place), ...settings, leftAloneGroupIds: ids.value };
  return work.perform(contracts.nameSettings.replace, input);
};

export const nameserversKind: Kind<PartOf<"nameservers">, Place> = {
  kind: "nameservers",
  keyOf: ({ name }) => name.toLowerCase(),
  async read(work, place) {
    const all = await everything(work, contracts.nameservers.list, inNetwork(place));
    if (!all.ok) return all;
    return ok(
      all.value.map(({ id, name, description, servers, domains, groupIds, state }) => ({
        id,
        item: { name, description, servers, domains, state, groups: groupIds.map(place.groups.nameOf).toSorted() },
      })),
    );
  },
  async create(work, place, { groups, ...item }) {
    const ids = groupIdsOf(place, groups);
    if (!ids.ok) return ids;
    return work.perform(contracts.nameservers.create, { ...inNetwork(place), ...item, groupIds: ids.value });
  },
  async change(work, place, { id, after: { groups, ...item } }) {
    const ids = groupIdsOf(place, groups);
    if (!ids.ok) return ids;
    return work.perform(contracts.nameservers.update, { nameserversId: id, ...item, groupIds: ids.value });
  },
  remove: (work, _place, { id }) => work.perform(contracts.nameservers.remove, { nameserversId: id }),
  adopt: (wanted) => ({
    ...wanted,
    servers: wanted.servers.map((text) => parseNameserver(text) ?? text),
    domains: wanted.domains.map(normalDomain),
    groups: wanted.groups.toSorted(),
  }),
};

export const nameRecordsKind: Kind<PartOf<"nameRecords">, Place> = {
  kind: "nameRecords",
  keyOf: (record) => {
    const { name, type, value } = plainRecord(record);
    return `${name} ${type} ${value}`;
  },
  async read(work, place) {
    const all = await everything(work, contracts.nameRecords.list, inNetwork(place));
    if (!all.ok) return all;
    return ok(
      all.value.map(({ id, name, type, value, ttlSeconds, description }) => ({
        id,
        item: { name, type, value, ttlSeconds, description },
      })),
    );
  },
  create: (work, place, item) => work.perform(contracts.nameRecords.create, { ...inNetwork(place), ...item }),
  change: (work, _place, { id, after }) => work.perform(contracts.nameRecords.update, { recordId: id, ...after }),
  remove: (work, _place, { id }) => work.perform(contracts.nameRecords.remove, { recordId: id }),
  adopt: plainRecord,
};

/** A record as the server keeps it; one that cannot be stays as it is said, and is refused later. */
function plainRecord(record: PartOf<"nameRecords">): PartOf<"nameRecords"> {
  const name = normalDomain(record.name);
  const read = parseRecord({ ...record, name, value: record.value.trim() });
  return read.ok ? { ...record, name, value: recordValue(read.value) } : record;
}

/** Keys that have a name and are valid: what was spent, revoked or has ended is no definition any more. */
export const enrolmentKeysKind: Kind<PartOf<"enrolmentKeys">, Place> = {
  kind: "enrolmentKeys",
  keyOf: ({ name }) => name,
  async read(work, place) {
    const all = await everything(work, contracts.enrolmentKeys.list, inNetwork(place));
    if (!all.ok) return all;
    const valid = all.value.filter(({ name, state }) => name !== "" && state === "valid");
    // Newest first: of several with one name the newest counts.
    const newest = valid.filter(({ name }, place_) => valid.findIndex((other) => other.name === name) === place_);
    return ok(
      newest.map(({ id, name, usesMax, createdAt, expiresAt, groupIds, ephemeralSeconds, approval }) => ({
        id,
        item: {
          name,
          usesMax,
          expiresInSeconds: Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1_000),
          groups: groupIds.map(place.groups.nameOf).toSorted(),
          ephemeralSeconds,
          approval,
        },
      })),
    );
  },
  async create(work, place, { groups, ...item }) {
    const ids = groupIdsOf(place, groups);
    if (!ids.ok) return ids;
    const made = await work.perform(contracts.enrolmentKeys.create, {
      ...inNetwork(place),
      ...item,
      groupIds: ids.value,
    });
    if (made.ok) {
      const { key, joinLine } = made.value;
      work.secrets.push({ kind: "enrolmentKeys", network: place.network, name: item.name, secret: key, joinLine });
    }
    return made;
  },
  async change(work, place, { id, after }) {
    const revoked = await work.perform(contracts.enrolmentKeys.revoke, { enrolmentKeyId: id });
    return revoked.ok ? enrolmentKeysKind.create(work, place, after) : revoked;
  },
  remove: (work, _place, { id }) => work.perform(contracts.enrolmentKeys.revoke, { enrolmentKeyId: id }),
  adopt: (wanted) => ({ ...wanted, groups: wanted.groups.toSorted() }),
  dangers: (before) => (before ? ["the present key ends at once"] : []),
};
