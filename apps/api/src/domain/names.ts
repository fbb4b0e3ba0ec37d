import { endpointOf, err, isDomainName, ok, parseEndpoint, parseIp, parseIpv4, parseIpv6 } from "@weft/protocol";
import type {
  Endpoint,
  GroupId,
  MapNames,
  NameRecord,
  NameRecordId,
  NameserverGroupId,
  PeerId,
  Result,
} from "@weft/protocol";
import type { Failure } from "./failure.ts";
import type { Peer } from "./peer.ts";

/** What names of a network end in, and who uses them. */
export type NameSettings = {
  readonly state: "on" | "off";
  readonly domain: string;
  /** Tried behind short names, after the domain. */
  readonly searchDomains: readonly string[];
  /** Nodes of these groups leave the resolver of their host alone. */
  readonly leftAloneGroupIds: readonly GroupId[];
};

/** Servers that nodes ask about domains. */
export type NameserverGroup = {
  readonly id: NameserverGroupId;
  readonly servers: readonly Endpoint[];
  /** None: everything. */
  readonly domains: readonly string[];
  /** Whose nodes use them; none: all. */
  readonly groupIds: readonly GroupId[];
  readonly state: "on" | "off";
};

/** All names of a network beside those of its peers. */
export type NetworkNames = {
  readonly settings: NameSettings;
  readonly records: readonly (NameRecord & { readonly id: NameRecordId })[];
  readonly nameservers: readonly NameserverGroup[];
};

/** What a network has until somebody says otherwise. */
export const DEFAULT_NAME_SETTINGS: NameSettings = {
  state: "on",
  domain: "weft.internal",
  searchDomains: [],
  leftAloneGroupIds: [],
};

/** What single nodes are told of the names. Nodes that are told the same get the same object. */
export type Namer = {
  /** `null`: names are off. `sees` tells which peers the node may know of. */
  readonly of: (node: Peer, sees: (other: PeerId) => boolean) => MapNames | null;
  /** True when a peer stands behind a record: who may know of that peer then decides who gets the record. */
  readonly standsBehind: (peer: Peer) => boolean;
  /** Forgets which peers stand behind records; they are looked for at the next question. */
  readonly forgetPeers: () => void;
};

/** `members` are all peers of the network, as they are at the moment of a question. */
export function createNamer({ settings, records, nameservers }: NetworkNames, members: () => Iterable<Peer>): Namer {
  const keys = records.map((record) => behindKey(record, settings.domain));
  const wanted = new Set(keys);
  const used = nameservers.filter(({ state }) => state === "on");
  const made = new Map<string, MapNames>();
  let owners: ReadonlyMap<string, PeerId> | undefined;
  const ownersOf = (): ReadonlyMap<string, PeerId> =>
    new Map([...members()].flatMap((peer) => keysOf(peer).flatMap((key) => (wanted.has(key) ? [[key, peer.id]] : []))));
  return {
    of(node, sees) {
      if (settings.state === "off") return null;
      owners ??= ownersOf();
      const known = owners;
      const isHidden = (key: string): boolean => {
        const owner = known.get(key);
        return owner !== undefined && owner !== node.id && !sees(owner);
      };
      const shown = records.filter((_record, at) => !isHidden(keys[at] ?? ""));
      const servers = used.filter(({ groupIds }) => groupIds.length === 0 || shares(groupIds, node.groupIds));
      const host = shares(settings.leftAloneGroupIds, node.groupIds) ? "leave" : "use";
      const key = [host, ...[...shown, ...servers].map(({ id }) => id)].join();
      const names = made.get(key) ?? {
        domain: settings.domain,
        host,
        searchDomains: settings.searchDomains,
        records: shown.map(({ id: _id, ...record }) => record),
        nameservers: servers.map(({ domains, servers: addresses }) => ({ domains, servers: addresses })),
      };
      made.set(key, names);
      return names;
    },
    standsBehind: (peer) => keysOf(peer).some((key) => wanted.has(key)),
    forgetPeers: () => (owners = undefined),
  };
}

/** Text that two nodes' names share exactly when they say the same. */
export function namesKey(names: MapNames | null): string {
  if (!names) return "off";
  const known = KEYS.get(names) ?? JSON.stringify(names);
  KEYS.set(names, known);
  return known;
}

const KEYS = new WeakMap<MapNames, string>();

/** Reads a record and refuses what cannot be one. */
export function parseRecord(input: {
  readonly name: string;
  readonly type: NameRecord["type"];
  readonly value: string;
  readonly ttlSeconds: number;
}): Result<NameRecord, Failure> {
  const { name, type, ttlSeconds } = input;
  const base = { name, ttlSeconds };
  switch (type) {
    case "A": {
      const address = parseIpv4(input.value);
      if (address.ok && address.value === "0.0.0.0") return fault("value", "0.0.0.0 is no host's address");
      return address.ok
        ? ok({ ...base, type, address: address.value })
        : fault("value", "an A record has an IPv4 address");
    }
    case "AAAA": {
      const address = parseIpv6(input.value);
      if (address.ok && address.value === "::") return fault("value", ":: is no host's address");
      return address.ok
        ? ok({ ...base, type, address: address.value })
        : fault("value", "an AAAA record has an IPv6 address");
    }
    case "CNAME": {
      const target = normalDomain(input.value);
      if (name === "@") return fault("name", "the domain itself cannot be another name; give it A or AAAA records");
      return isDomainName(target)
        ? ok({ ...base, type, target })
        : fault("value", "a CNAME has a domain name, or one label of this network");
    }
  }
}

/** What a record says, as text. */
export function recordValue(record: NameRecord): string {
  return record.type === "CNAME" ? record.target : record.address;
}

/** Why names cannot end in this; nothing when they can. */
export function domainFault(domain: string): string | undefined {
  if (!isDomainName(domain)) return "letters, digits, dashes and dots only, at most 200 characters";
  const last = domain.split(".").at(-1) ?? "";
  if (UNUSABLE_ENDS.has(last)) return `names in .${last} mean something else on every host`;
  return /^\d+$/.test(last) ? "the last label must not be a number" : undefined;
}

/** A name as it is stored: lower case, without the dot at its end. */
export function normalDomain(text: string): string {
  return text.trim().toLowerCase().replace(/\.$/, "");
}

/** An address of a nameserver, with a port where it is not 53. */
export function parseNameserver(text: string): Endpoint | undefined {
  const trimmed = text.trim();
  const address = parseIp(trimmed);
  const endpoint = address.ok ? endpointOf(address.value, DNS_PORT) : parseEndpoint(trimmed);
  return endpoint.ok ? endpoint.value : undefined;
}

const DNS_PORT = 53;

function fault(field: string, reason: string): Result<never, Failure> {
  return err({ code: "name_fault", field, reason });
}

/** What of a peer a record points at, if it does. */
function behindKey(record: NameRecord, domain: string): string {
  if (record.type !== "CNAME") return record.address;
  const { target } = record;
  if (!target.includes(".")) return target;
  return target.endsWith(`.${domain}`)
    ? (target
        .slice(0, -domain.length - 1)
        .split(".")
        .at(-1) ?? "")
    : "";
}

function keysOf({ name, ipv4, ipv6 }: Peer): string[] {
  return [name, ...[ipv4, ipv6].flatMap((address) => (address === null ? [] : [address]))];
}

function shares(left: readonly GroupId[], right: readonly GroupId[]): boolean {
  return left.some((one) => right.includes(one));
}

const UNUSABLE_ENDS: ReadonlySet<string> = new Set(["localhost", "local", "arpa", "invalid", "onion", "test"]);
