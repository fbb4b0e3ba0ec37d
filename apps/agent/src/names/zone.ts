import type { Answer } from "dns-packet";
import {
  ipFromBytes,
  parseIp,
  prefixContains,
  type Endpoint,
  type MapNames,
  type NameRecord,
  type NetworkMap,
} from "@weft/protocol";

import type { Rcode } from "./dns-message.ts";

/** What the map says about a name. */
export type ZoneAnswer =
  | {
      readonly kind: "own";
      readonly rcode: Extract<Rcode, "NOERROR" | "NXDOMAIN">;
      readonly answers: readonly Answer[];
      /** A name outside the network that an alias leads to: its answer belongs behind these. */
      readonly goOnAt: string | null;
    }
  | { readonly kind: "servers"; readonly servers: readonly Endpoint[] }
  /** No business of the network. */
  | { readonly kind: "outside" };

/** The names of one map, ready for questions. */
export type Zone = {
  readonly names: MapNames;
  readonly ask: (name: string, type: string) => ZoneAnswer;
  /** What stands behind an answer that says "no". */
  readonly authority: () => Answer;
};

/** Makes the zone of a map; `null` when names are off. */
export function createZone(map: NetworkMap): Zone | null {
  const { names } = map;
  if (!names) return null;
  const tables = tablesOf(map, names);
  const relative = (name: string): string | null => {
    if (name === names.domain) return "@";
    return name.endsWith(`.${names.domain}`) ? name.slice(0, -names.domain.length - 1) : null;
  };
  return {
    names,
    ask(name, type) {
      const best = bestServers(names, name);
      const label = relative(name);
      // A longer domain that an administrator gave to servers is theirs, also below the domain of the network.
      if (label !== null && (best === null || best.length <= names.domain.length)) {
        return own(tables, { label, name, type }, relative);
      }
      if (best && best.length > 0) return { kind: "servers", servers: best.servers };
      const reversed = reverse(map, tables, { name, type });
      if (reversed) return reversed;
      return best ? { kind: "servers", servers: best.servers } : { kind: "outside" };
    },
    authority: () => ({
      type: "SOA",
      name: names.domain,
      ttl: TTL_SECONDS_MAX,
      data: {
        mname: names.domain,
        rname: `hostmaster.${names.domain}`,
        serial: 1,
        refresh: 3_600,
        retry: 600,
        expire: 86_400,
        minimum: TTL_SECONDS_MAX,
      },
    }),
  };
}

type Tables = {
  readonly domain: string;
  readonly records: ReadonlyMap<string, readonly NameRecord[]>;
  readonly peers: ReadonlyMap<string, { readonly ipv4: string | null; readonly ipv6: string | null }>;
  readonly byAddress: ReadonlyMap<string, string>;
};

function tablesOf({ self, peers }: NetworkMap, names: MapNames): Tables {
  const members = [self, ...peers];
  const records = new Map<string, NameRecord[]>();
  for (const record of names.records) records.set(record.name, [...(records.get(record.name) ?? []), record]);
  return {
    domain: names.domain,
    records,
    peers: new Map(members.map(({ name, ipv4, ipv6 }) => [name, { ipv4, ipv6 }])),
    byAddress: new Map(
      members.flatMap(({ name, ipv4, ipv6 }) =>
        [ipv4, ipv6].flatMap((address) => (address === null ? [] : [[address, name] as const])),
      ),
    ),
  };
}

type Question = { readonly label: string; readonly name: string; readonly type: string };

function own(tables: Tables, question: Question, relative: (name: string) => string | null): ZoneAnswer {
  const answers: Answer[] = [];
  let { label, name } = question;
  for (let hops = 0; hops < ALIASES_MAX; hops += 1) {
    const found = lookUp(tables, label, { ...question, name });
    answers.push(...found.answers);
    if (found.alias === null) {
      const rcode = found.exists ? "NOERROR" : "NXDOMAIN";
      return { kind: "own", rcode, answers, goOnAt: null };
    }
    name = found.alias.includes(".") ? found.alias : `${found.alias}.${tables.domain}`;
    const next = relative(name);
    if (next === null) return { kind: "own", rcode: "NOERROR", answers, goOnAt: name };
    label = next;
  }
  // Aliases that lead in a circle: the name is there and has no address.
  return { kind: "own", rcode: "NOERROR", answers: [], goOnAt: null };
}

type Found = { readonly exists: boolean; readonly answers: readonly Answer[]; readonly alias: string | null };

function lookUp(tables: Tables, label: string, { name, type }: Question): Found {
  const records = tables.records.get(label);
  if (records) {
    const alias = records.find((record) => record.type === "CNAME");
    if (alias?.type === "CNAME") {
      const target = alias.target.includes(".") ? alias.target : `${alias.target}.${tables.domain}`;
      const answer: Answer = { type: "CNAME", name, ttl: ttlOf(alias), data: target };
      return { exists: true, answers: [answer], alias: type === "CNAME" ? null : alias.target };
    }
    const fitting = records.filter((record) => record.type === type || type === "ANY");
    const answers = fitting.flatMap((record): Answer[] =>
      record.type === "CNAME" ? [] : [{ type: record.type, name, ttl: ttlOf(record), data: record.address }],
    );
    return { exists: true, answers, alias: null };
  }
  const peer = tables.peers.get(label);
  if (!peer) return { exists: label === "@" || hasBelow(tables, label), answers: [], alias: null };
  const answers: Answer[] = [];
  if (peer.ipv4 !== null && (type === "A" || type === "ANY"))
    answers.push({ type: "A", name, ttl: TTL_SECONDS_MAX, data: peer.ipv4 });
  if (peer.ipv6 !== null && (type === "AAAA" || type === "ANY"))
    answers.push({ type: "AAAA", name, ttl: TTL_SECONDS_MAX, data: peer.ipv6 });
  return { exists: true, answers, alias: null };
}

/** A name with others below it is there, even when it has no record of its own (RFC 8020). */
function hasBelow(tables: Tables, label: string): boolean {
  return [...tables.records.keys()].some((name) => name.endsWith(`.${label}`));
}

/** Names of addresses of the network; `null` for other questions. */
function reverse(
  { self }: NetworkMap,
  tables: Tables,
  { name, type }: Pick<Question, "name" | "type">,
): ZoneAnswer | null {
  const address = addressOfReverse(name);
  if (address === null) return null;
  const parsed = parseIp(address);
  if (!parsed.ok) return null;
  const isOurs = [self.ipv4Range, self.ipv6Range].some(
    (range) => range !== null && prefixContains(range, parsed.value),
  );
  if (!isOurs) return null;
  const label = tables.byAddress.get(parsed.value);
  if (label === undefined) return { kind: "own", rcode: "NXDOMAIN", answers: [], goOnAt: null };
  const isAsked = type === "PTR" || type === "ANY";
  const answer: Answer = { type: "PTR", name, ttl: TTL_SECONDS_MAX, data: `${label}.${tables.domain}` };
  return { kind: "own", rcode: "NOERROR", answers: isAsked ? [answer] : [], goOnAt: null };
}

function addressOfReverse(name: string): string | null {
  if (name.endsWith(".in-addr.arpa")) {
    const parts = name.slice(0, -".in-addr.arpa".length).split(".").toReversed();
    return parts.length === 4 ? parts.join(".") : null;
  }
  if (!name.endsWith(".ip6.arpa")) return null;
  const nibbles = name.slice(0, -".ip6.arpa".length).split(".").toReversed();
  if (nibbles.length !== 32 || !nibbles.every((nibble) => /^[0-9a-f]$/.test(nibble))) return null;
  const address = ipFromBytes(Uint8Array.from(Buffer.from(nibbles.join(""), "hex")));
  return address.ok ? address.value : null;
}

/** Servers of the longest domain that the name is in; `length` is that of the domain, 0 for servers of everything. */
function bestServers(
  { nameservers }: MapNames,
  name: string,
): { readonly length: number; readonly servers: readonly Endpoint[] } | null {
  const fitting = nameservers.flatMap(({ domains, servers }) => {
    const found = domains.filter((domain) => name === domain || name.endsWith(`.${domain}`));
    if (domains.length > 0 && found.length === 0) return [];
    return [{ length: Math.max(0, ...found.map((domain) => domain.length)), servers }];
  });
  if (fitting.length === 0) return null;
  const length = Math.max(...fitting.map((one) => one.length));
  return { length, servers: fitting.filter((one) => one.length === length).flatMap(({ servers }) => servers) };
}

function ttlOf({ ttlSeconds }: NameRecord): number {
  return Math.min(ttlSeconds, TTL_SECONDS_MAX);
}

/** Nobody remembers a name of the network longer (ND-21). */
const TTL_SECONDS_MAX = 10;
const ALIASES_MAX = 8;
