import { readFileSync } from "node:fs";
import { cpus, freemem, hostname, loadavg, totalmem, version } from "node:os";

import type { NetworkMap } from "@weft/protocol";

import { isAgentVariable } from "../settings/agent-variables.ts";
import type { MeshNode } from "./node.ts";
import { mapStrings, patternOfNames, withoutAddresses, withoutSecrets } from "./redact.ts";
import type { StatusView } from "./status-view.ts";

/** Everything that helps to find a fault of this agent, and nothing that opens a door. */
export type DebugBundle = {
  /** What is in it, part by part, so that a person can decide whether to hand it on. */
  readonly contents: { readonly [part in DebugPart]: string };
} & { readonly [part in DebugPart]: unknown };

export type DebugPart = "status" | "map" | "host" | "process" | "environment" | "log";

export type DebugSources = {
  readonly status: StatusView;
  /** The last lines of the log. */
  readonly log: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Keys of peers: by their form alone they could be private ones. */
  readonly publicKeys: readonly string[];
  /** Counts of what the map holds. */
  readonly map: MapSummary | null;
  readonly readFile?: (path: string) => string | null;
};

export type MapSummary = {
  readonly peers: number;
  readonly routes: number;
  readonly filterRules: number;
  readonly peersWithPresharedKey: number;
};

export function debugBundle(sources: DebugSources): DebugBundle {
  const readFile = sources.readFile ?? readText;
  const bundle = {
    contents: CONTENTS,
    status: sources.status,
    map: sources.map,
    host: hostFacts(readFile),
    process: processFacts(readFile),
    environment: weftVariables(sources.environment),
    log: sources.log,
  };
  return redacted(bundle, new Set([...sources.publicKeys, sources.status.publicKey ?? ""]));
}

function redacted(bundle: DebugBundle, publicKeys: ReadonlySet<string>): DebugBundle {
  const change = (text: string): string => withoutSecrets(text, publicKeys);
  return mapStrings(bundle, { change, changeName: change });
}

/** The same bundle without addresses, endpoints, public keys and names of hosts and networks: for handing it to strangers. */
export function withoutPlaces(
  bundle: DebugBundle,
  map: NetworkMap | null,
  { serverUrl, host = hostname() }: { readonly serverUrl: string; readonly host?: string },
): DebugBundle {
  const names = patternOfNames([host, ...namesIn(map), ...hostOf(serverUrl)]);
  const bare = (text: string): string => withoutAddresses(withoutSecrets(text, NO_KEYS));
  const change = (text: string): string => (names ? bare(text).replaceAll(names, "[name]") : bare(text));
  const { contents, ...parts } = bundle;
  return { contents, ...mapStrings(parts, { change, changeName: bare }) };
}

function namesIn(map: NetworkMap | null): readonly string[] {
  if (!map) return [];
  const { self, peers, names } = map;
  const given = names ? [names.domain, ...names.searchDomains, ...names.records.map(({ name }) => name)] : [];
  return [self.name, self.networkName, ...peers.map(({ name }) => name), ...given];
}

function hostOf(url: string): readonly string[] {
  return URL.canParse(url) ? [new URL(url).hostname] : [];
}

const NO_KEYS: ReadonlySet<string> = new Set();

function hostFacts(readFile: (path: string) => string | null): object {
  const settings = KERNEL_SETTINGS.map((name) => [name, readFile(`/proc/sys/${name.replaceAll(".", "/")}`)?.trim()]);
  return {
    kernel: readFile("/proc/sys/kernel/osrelease")?.trim() ?? null,
    build: version(),
    processors: cpus().length,
    processorModel: cpus()[0]?.model ?? null,
    loadAverage: loadavg(),
    memoryBytes: totalmem(),
    memoryFreeBytes: freemem(),
    settings: Object.fromEntries(settings),
    netDevices: readFile("/proc/net/dev"),
    udp: readFile("/proc/net/snmp")
      ?.split("\n")
      .filter((line) => line.startsWith("Udp:")),
  };
}

function processFacts(readFile: (path: string) => string | null): object {
  const status = readFile("/proc/self/status")?.split("\n") ?? [];
  const facts = status.filter((line) => PROCESS_FACTS.some((name) => line.startsWith(`${name}:`)));
  return {
    node: process.version,
    versions: process.versions,
    memory: process.memoryUsage(),
    resources: process.resourceUsage(),
    status: Object.fromEntries(facts.map((line) => line.split(/:\s*/, 2))),
  };
}

/** Counts what the map holds; none of it is shown. */
export function mapSummary(node: Pick<MeshNode, "sync">): MapSummary | null {
  const map = node.sync.map();
  if (!map) return null;
  return {
    peers: map.peers.length,
    routes: map.peers.reduce((sum, { routes }) => sum + routes.length, 0),
    filterRules: map.filter.length,
    peersWithPresharedKey: map.peers.filter(({ presharedKey }) => presharedKey !== null).length,
  };
}

/** Values of the agent's own settings; of what else has such a name, nobody knows what it holds. */
function weftVariables(environment: NodeJS.ProcessEnv): object {
  const own = Object.entries(environment).filter(([name]) => name.startsWith("WEFT_"));
  return Object.fromEntries(own.map(([name, value]) => [name, isAgentVariable(name) ? value : "[not shown]"]));
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

const CONTENTS: DebugBundle["contents"] = {
  status:
    "what `weft status --json` shows: names, addresses and public keys of this node and its peers, counters, offloads",
  map: "how many peers, routes and rules the network map has",
  host: "kernel version and settings, processor, memory, interface and UDP counters",
  process: "version, memory, threads and rights of the agent",
  environment: "the agent's own settings (WEFT_…), and the names of other variables that begin like them",
  log: "the last lines that this agent has logged, wherever to; tokens are replaced",
};
const KERNEL_SETTINGS = [
  "net.core.rmem_max",
  "net.core.wmem_max",
  "net.core.netdev_max_backlog",
  "net.core.default_qdisc",
  "net.ipv4.ip_forward",
  "net.ipv6.conf.all.forwarding",
  "kernel.perf_event_paranoid",
  "kernel.kptr_restrict",
];
const PROCESS_FACTS = ["Threads", "VmRSS", "VmHWM", "CapEff", "Seccomp", "NoNewPrivs", "Cpus_allowed_list"];
