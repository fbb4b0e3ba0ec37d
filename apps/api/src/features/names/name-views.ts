import type { NetworkId } from "@weft/protocol";
import type { StoredNameservers, StoredRecord } from "../../db/names-repository.ts";
import { recordValue } from "../../domain/names.ts";
import type { NameSettings } from "../../domain/names.ts";

/** Settings as callers see them. */
export function settingsView(networkId: NetworkId, settings: NameSettings) {
  const { state, domain, searchDomains, leftAloneGroupIds } = settings;
  return { networkId, state, domain, searchDomains: [...searchDomains], leftAloneGroupIds: [...leftAloneGroupIds] };
}

/** A record as callers see it. */
export function recordView(record: StoredRecord) {
  const { id, networkId, name, type, ttlSeconds, description, createdAt } = record;
  const value = recordValue(record);
  return { id, networkId, name, type, value, ttlSeconds, description, createdAt: createdAt.toISOString() };
}

/** A nameserver group as callers see it. */
export function nameserversView(group: StoredNameservers) {
  const { id, networkId, name, description, servers, domains, groupIds, state, createdAt } = group;
  return {
    id,
    networkId,
    name,
    description,
    servers: [...servers],
    domains: [...domains],
    groupIds: [...groupIds],
    state,
    createdAt: createdAt.toISOString(),
  };
}
