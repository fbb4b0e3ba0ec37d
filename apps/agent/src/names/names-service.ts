import { networkInterfaces } from "node:os";

import { ok, type IpAddress, type MapNames, type NetworkMap, type Result } from "@weft/protocol";

import type { Log } from "../daemon/log.ts";
import type { MapSync } from "../daemon/map-sync.ts";
import type { HostMode, HostNames, HostResolver, HostResolverError } from "../os/host-resolver.linux.ts";
import type { Timers } from "../stream/timers.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { createForwarder } from "./forwarder.ts";
import { openResolver, type ResolverServer } from "./resolver-server.ts";
import { createResolver } from "./resolver.ts";
import { createZone, type Zone } from "./zone.ts";

/** Answers the names of the network on the node's own addresses, and lets the host ask there. */
export type NamesService = {
  /** Map or tunnel may be other ones now. */
  readonly update: () => void;
  readonly view: () => NamesView;
  readonly problems: () => readonly string[];
  /** Ends the answers and gives the host its resolver back. */
  readonly close: () => Promise<void>;
};

/** What `weft status` shows of names. */
export type NamesView = {
  /** `null`: names are off. */
  readonly domain: string | null;
  readonly listening: readonly string[];
  /** How the host asks; `null`: it does not. */
  readonly host: HostMode | null;
  readonly records: number;
  readonly nameservers: number;
};

type NodeSide = {
  readonly sync: Pick<MapSync, "map" | "tunnel" | "tunnelsMade">;
  readonly timers: Timers;
  readonly log: Log;
  /** What `problems` says is other than before. */
  readonly changed: () => void;
};
export type OpenNames = (own: NodeSide) => NamesService;

export type NamesServiceDeps = NodeSide & {
  /** `null`: the host is left alone. */
  readonly host: HostResolver | null;
  readonly randomId: () => number;
  /** 53 everywhere but in tests. */
  readonly port?: number;
};

export function createNamesService(deps: NamesServiceDeps): NamesService {
  const { sync, timers, log, host } = deps;
  const zone = zoneOf(sync.map);
  const forwarder = createForwarder({ cache: createAnswerCache(timers.nowMs), randomId: deps.randomId });
  const resolver = createResolver({ zone, forwarder, upstreams: () => host?.upstreams() ?? [] });
  const servers = new Map<IpAddress, ResolverServer>();
  let troubles: readonly string[] = [];
  let told: { readonly key: string; readonly mode: HostMode | null } | null = null;
  let failures = 0;
  let cancelRetry = (): void => {};
  let isOver = false;

  const listen = async (addresses: readonly IpAddress[]): Promise<string[]> => {
    const faults: string[] = [];
    for (const [address, server] of servers) {
      if (addresses.includes(address)) continue;
      servers.delete(address);
      await server.close();
    }
    for (const address of addresses) {
      if (servers.has(address)) continue;
      const opened = await openResolver({ resolver, mayAsk }, { address, port: deps.port ?? DNS_PORT });
      if (opened.ok) servers.set(address, opened.value);
      else faults.push(opened.error.message);
    }
    return faults;
  };
  const tellHost = async (wanted: Wanted | null): Promise<Result<undefined, HostResolverError>> => {
    const listening = wanted?.addresses.filter((address) => servers.has(address)) ?? [];
    if (!host || !wanted || wanted.names.host === "leave" || listening.length === 0) {
      if (told?.mode) await host?.restore();
      told = null;
      return ok(undefined);
    }
    const names = hostNames(wanted, listening);
    const key = JSON.stringify([names, sync.tunnelsMade()]);
    if (told?.key === key) return ok(undefined);
    const used = await host.use(names);
    told = used.ok ? { key, mode: used.value } : null;
    if (used.ok) log.info("names_in_use", { domain: wanted.names.domain, mode: used.value });
    return used.ok ? ok(undefined) : used;
  };
  const reconcile = async (): Promise<void> => {
    cancelRetry();
    const wanted = isOver ? null : wantedOf(sync);
    const faults = await listen(wanted?.addresses ?? []);
    const used = await tellHost(wanted);
    const before = troubles.join();
    // A file that belongs to others is left alone, which is no trouble.
    const fault = used.ok || used.error.code === "shared" ? [] : [used.error.message];
    troubles = [...faults, ...fault].map((text) => `names: ${text}`);
    failures = troubles.length === 0 ? 0 : failures + 1;
    // An address may take a moment until it can be listened on; a program in the way may go.
    if (failures > 0 && !isOver) cancelRetry = timers.after(retryMs(failures), update);
    if (troubles.join() === before) return;
    for (const message of troubles) log.warn("names_trouble", { message });
    deps.changed();
  };
  const inTurn = oneAtATime(reconcile, (error) => log.error("names_failed", { message: String(error) }));
  const update = (): void => void inTurn();
  // What a run before could not undo is undone first: its file names an address that nobody listens on.
  void host?.restore().catch(() => {});
  return {
    update,
    view() {
      const names = sync.map()?.names;
      return {
        domain: names?.domain ?? null,
        listening: [...servers.keys()],
        host: told?.mode ?? null,
        records: names?.records.length ?? 0,
        nameservers: names?.nameservers.length ?? 0,
      };
    },
    problems: () => troubles,
    async close() {
      isOver = true;
      await inTurn();
    },
  };
}

type Wanted = {
  readonly names: MapNames;
  readonly interfaceName: string;
  readonly addresses: readonly IpAddress[];
};

function wantedOf(sync: NodeSide["sync"]): Wanted | null {
  const [map, tunnel] = [sync.map(), sync.tunnel()];
  if (!map?.names || !tunnel) return null;
  const addresses = [map.self.ipv4, map.self.ipv6].flatMap((address) => address ?? []);
  return { names: map.names, interfaceName: tunnel.interfaceName, addresses };
}

function hostNames({ names, interfaceName }: Wanted, servers: readonly IpAddress[]): HostNames {
  const domains = names.nameservers.flatMap((group) => group.domains);
  return {
    interfaceName,
    servers,
    search: [...new Set([names.domain, ...names.searchDomains])],
    domains: [...new Set(domains)],
    scope: names.nameservers.some((group) => group.domains.length === 0) ? "all" : "domains",
  };
}

/** The zone of the present map, made once for each map. */
function zoneOf(map: () => NetworkMap | null): () => Zone | null {
  let made: { readonly map: NetworkMap | null; readonly zone: Zone | null } = { map: null, zone: null };
  return () => {
    const present = map();
    if (made.map !== present) made = { map: present, zone: present && createZone(present) };
    return made.zone;
  };
}

/** Only this host is answered: whoever else could reach the address would find an open resolver. */
function mayAsk(address: string): boolean {
  const [bare = ""] = address.replace(/^::ffff:/, "").split("%");
  if (bare.startsWith("127.") || bare === "::1") return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === bare) === true);
}

/** Runs one at a time; calls that come while one waits share its run. */
function oneAtATime(run: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;
  return () => {
    waiting ??= running.then(() => {
      waiting = null;
      running = run().catch(onError);
      return running;
    });
    return waiting;
  };
}

function retryMs(failures: number): number {
  return Math.min(250 * 2 ** (failures - 1), 30_000);
}

const DNS_PORT = 53;
