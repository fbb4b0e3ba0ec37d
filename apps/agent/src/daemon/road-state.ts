import { prefixesOverlap as overlaps, type IpAddress, type Prefix } from "@weft/protocol";

import { forwardingTable } from "./road-firewall.ts";
import { familyOfPrefix, isEverything, ofFamily, type RoadPlan } from "./road-plan.ts";

/** Everything that is set on a host for a plan, as the words its programs take. */
export type RoadState = {
  readonly routes: FamilyLines;
  readonly rules: FamilyLines;
  /** The whole firewall table; null = none. */
  readonly firewall: string | null;
  readonly forwarding: readonly (4 | 6)[];
  /** Interface out of which packets go that came in by it, without telling their senders of a shorter way; null = none. */
  readonly withoutRedirects: string | null;
  /** Whether marks count when the kernel checks where a packet may come from. */
  readonly markedSources: "counted" | "as-is";
};

/** Lines of the program `ip`, by address family. */
export type FamilyLines = { readonly 4: readonly string[]; readonly 6: readonly string[] };

export const NO_ROADS: RoadState = {
  routes: { 4: [], 6: [] },
  rules: { 4: [], 6: [] },
  firewall: null,
  forwarding: [],
  withoutRedirects: null,
  markedSources: "as-is",
};

/** Turns a plan into what has to be set. */
export function roadState(plan: RoadPlan): RoadState {
  const table = routingTable(plan.interfaceName);
  const both = (lines: (family: 4 | 6) => readonly string[]): FamilyLines => ({ 4: lines(4), 6: lines(6) });
  const serving = plan.serves.length + plan.clients.length > 0;
  return {
    routes: both((family) => routesOf(plan, family).map((line) => `${line} table ${table}`)),
    rules: both((family) => rulesOf(plan, { family, table })),
    firewall: serving || plan.exit ? forwardingTable(plan) : null,
    forwarding: ([4, 6] as const).filter((family) => forwards(plan, family)),
    withoutRedirects: plan.clients.length > 0 ? plan.interfaceName : null,
    markedSources: plan.exit ? "counted" : "as-is",
  };
}

/** The routing table of an interface: always the same number, so that a later process finds it again. */
export function routingTable(interfaceName: string): number {
  let hash = 0;
  for (const char of interfaceName) hash = (hash * 31 + char.charCodeAt(0)) % TABLES;
  return FIRST_TABLE + hash;
}

function routesOf({ interfaceName, routes, ranges, exit }: RoadPlan, family: 4 | 6): string[] {
  const led = ofFamily(routes, family).map((prefix) => `${prefix} dev ${interfaceName}`);
  if (!exit) return led;
  return [
    // Without a local exception the network's own ranges must stand here, too.
    ...ofFamily(ranges, family).map((prefix) => `${prefix} dev ${interfaceName}`),
    ...led,
    ...(exit.families.includes(family) ? [`default dev ${interfaceName} metric 1`] : []),
    // Stays when the interface goes: what has no exit goes nowhere.
    `unreachable default metric ${LAST_METRIC}`,
  ];
}

function rulesOf(plan: RoadPlan, { family, table }: { readonly family: 4 | 6; readonly table: number }): string[] {
  const { routes, exit, mark, servers } = plan;
  if (!exit && ofFamily(routes, family).length === 0) return [];
  const past = servers.filter((address) => addressFamily(address) === family);
  const dns = ["udp", "tcp"].map((protocol) => `priority ${PRIORITY + 2} ipproto ${protocol} dport 53 lookup ${table}`);
  return [
    // The tunnel's own datagrams and the stream to the control plane never enter the tunnel.
    `priority ${PRIORITY} fwmark ${mark} lookup main`,
    ...past.map((address) => `priority ${PRIORITY + 1} to ${address} lookup main`),
    // Questions about names tell where one goes: they take the exit even when the name server is near.
    ...(exit ? dns : []),
    // The host's own networks win over routes of the map; its default route does not.
    ...(exit?.lan === "blocked" ? [] : [`priority ${PRIORITY + 3} lookup main suppress_prefixlength 0`]),
    `priority ${PRIORITY + 4} lookup ${table}`,
  ];
}

function forwards({ serves, clients }: RoadPlan, family: 4 | 6): boolean {
  return [...serves.map(({ prefix }) => prefix), ...clients].some((prefix) => familyOfPrefix(prefix) === family);
}

function addressFamily(address: IpAddress): 4 | 6 {
  return address.includes(":") ? 6 : 4;
}

/** The routes of a plan that this host's own routing table answers otherwise; `own` are its routes but the default one. */
export function hiddenRoutes(plan: RoadPlan, own: readonly { readonly prefix: Prefix; readonly device: string }[]) {
  const serving = new Set(plan.serves.map(({ prefix }) => prefix));
  return plan.routes.flatMap((prefix) => {
    if (isEverything(prefix) || serving.has(prefix)) return [];
    const local = own.find((route) => route.device !== plan.interfaceName && overlaps(prefix, route.prefix));
    return local ? [{ prefix, local }] : [];
  });
}

const FIRST_TABLE = 7_000_000;
const TABLES = 999_983;
/** Before the main table, behind the local one. */
const PRIORITY = 5_100;
const LAST_METRIC = 4_278_198_272;
