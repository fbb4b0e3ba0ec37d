import { create, type MessageShape } from "@bufbuild/protobuf";

import { ipToBytes } from "../addresses.ts";
import { isDomainName, isPeerName, isRecordName } from "../names.ts";
import type { MapNames, MapNameservers, NameRecord } from "../network-map.ts";
import { MapNamesSchema, type NameRecordSchema, type NameserversSchema } from "./agent_pb.ts";
import { packEndpoints, unpackEndpoints } from "./block.ts";
import { atMost, FieldError, oneOf, within, word } from "./checks.ts";
import { ipv4OrNull, ipv6OrNull } from "./map-peers.ts";

/** Names as a message; `null` (off) is one without a domain. */
export function namesToWire(names: MapNames | null): MessageShape<typeof MapNamesSchema> {
  if (!names) return create(MapNamesSchema, {});
  return create(MapNamesSchema, {
    domain: names.domain,
    host: names.host,
    searchDomains: [...names.searchDomains],
    records: names.records.map((record) => ({
      name: record.name,
      type: record.type,
      ttlSeconds: record.ttlSeconds,
      ...(record.type === "CNAME" ? { target: record.target } : { address: ipToBytes(record.address) }),
    })),
    nameservers: names.nameservers.map(({ domains, servers }) => ({
      domains: [...domains],
      servers: packEndpoints([servers]).bytes,
      serverCount: servers.length,
    })),
  });
}

export function namesFromWire(message: MessageShape<typeof MapNamesSchema>): MapNames | null {
  if (message.domain === "") return null;
  return {
    domain: word("names.domain", message.domain, isDomainName),
    host: word("names.host", message.host, oneOf(["use", "leave"])),
    searchDomains: domainsFromWire("names.search_domains", message.searchDomains),
    records: atMost("names.records", message.records, RECORDS_MAX).map(recordFromWire),
    nameservers: atMost("names.nameservers", message.nameservers, NAMESERVERS_MAX).map(nameserversFromWire),
  };
}

function recordFromWire(message: MessageShape<typeof NameRecordSchema>): NameRecord {
  const base = {
    name: word("names.records.name", message.name, isRecordName),
    ttlSeconds: within("names.records.ttl", message.ttlSeconds, { min: 1, max: 86_400 }),
  };
  const type = word("names.records.type", message.type, oneOf(["A", "AAAA", "CNAME"]));
  switch (type) {
    case "A":
      return { ...base, type, address: required("names.records.address", ipv4OrNull(message.address)) };
    case "AAAA":
      return { ...base, type, address: required("names.records.address", ipv6OrNull(message.address)) };
    case "CNAME":
      return { ...base, type, target: word("names.records.target", message.target, isTarget) };
  }
}

function nameserversFromWire(message: MessageShape<typeof NameserversSchema>): MapNameservers {
  const counts = [within("names.nameservers.server_count", message.serverCount, { min: 1, max: SERVERS_MAX })];
  const [servers = []] = unpackEndpoints("names.nameservers.servers", { counts, bytes: message.servers });
  return { domains: domainsFromWire("names.nameservers.domains", message.domains), servers };
}

function domainsFromWire(field: string, domains: readonly string[]): string[] {
  return atMost(field, domains, DOMAINS_MAX).map((domain) => word(field, domain, isDomainName));
}

function required<T>(field: string, value: T | null): T {
  if (value === null) throw new FieldError(field, "missing");
  return value;
}

/** A whole domain name, or one label of the network's own domain. */
const isTarget = (text: string): text is string => isPeerName(text) || isDomainName(text);

/** Bounds of one map; the control plane's are not wider. */
const RECORDS_MAX = 2_000;
const NAMESERVERS_MAX = 100;
const SERVERS_MAX = 16;
const DOMAINS_MAX = 100;
