import { readFileSync } from "node:fs";
import { cpus, freemem, hostname, loadavg, totalmem, version } from "node:os";

import type { NetworkMap } from "@weft/protocol";

import { isAgentVariable } from "../settings/agent-variables.ts";
import type { MeshNode } from "./node.ts";
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
  return redacted(bundle);
}

/** Replaces everything that looks like a token or a join key, wherever it stands. */
function redacted(bundle: DebugBundle): DebugBundle {
  // A bundle is plain data: it survives the way through text.
  const parsed: DebugBundle = JSON.parse(JSON.stringify(bundle).replaceAll(TOKEN, "[token]"));
  return parsed;
}

/** The same bundle without addresses, endpoints and names of hosts: for handing it to strangers. */
export function withoutPlaces(bundle: DebugBundle, map: NetworkMap | null): DebugBundle {
  const names = [hostname(), map?.self.name ?? "", ...(map?.peers.map(({ name }) => name) ?? [])];
  const longest = names.filter((name) => name.length > 1).toSorted((left, right) => right.length - left.length);
  let text = JSON.stringify(bundle).replaceAll(ADDRESS, "[address]");
  for (const name of longest) text = text.replaceAll(JSON.stringify(name), '"[name]"');
  const parsed: DebugBundle = JSON.parse(text);
  return parsed;
}

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
/** IPv4, and IPv6 with at least two colons, each with what may follow in an endpoint or prefix. */
const ADDRESS =
  /\b\d{1,3}(\.\d{1,3}){3}(:\d+|\/\d+)?\b|\[?(?<![\w:])([0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])\]?(:\d+|\/\d+)?/gi;
const TOKEN = /weft_[a-z]{3}_[A-Za-z0-9]+(\.[A-Za-z0-9_-]+)?/g;
