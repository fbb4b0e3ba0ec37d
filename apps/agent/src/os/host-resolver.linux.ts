import { readFileSync, readlinkSync } from "node:fs";

import { endpointOf, err, ok, type Endpoint, type IpAddress, type Result } from "@weft/protocol";

import { armGuard, RESOLV_CONF, type Guard } from "./resolver-guard.ts";
import { parseResolvConf, withWeft } from "./resolv-conf.ts";
import { runCommand } from "./run-command.ts";
import { createSwappedFile } from "./swapped-file.ts";

/** What the host is to ask the agent about. */
export type HostNames = {
  readonly interfaceName: string;
  readonly servers: readonly IpAddress[];
  /** Tried behind short names, the domain of the network first. */
  readonly search: readonly string[];
  /** What the agent is asked about where the host can tell domains apart. */
  readonly domains: readonly string[];
  /** "all": the agent is asked about everything. */
  readonly scope: "domains" | "all";
};

/** How the host's resolver came to ask the agent. */
export type HostMode = "systemd-resolved" | "file";

/** The resolver of this host. */
export type HostResolver = {
  /** Points the host at the agent, or changes what was said before. */
  readonly use: (names: HostNames) => Promise<Result<HostMode, HostResolverError>>;
  /** Undoes what we wrote, and only that; also what an earlier run left behind. */
  readonly restore: () => Promise<void>;
  /** Servers that the host had before. */
  readonly upstreams: () => readonly Endpoint[];
};

export type HostResolverError = { readonly code: "failed" | "shared"; readonly message: string };

export type HostResolverOptions = {
  /** Where the file before ours is kept. */
  readonly backupPath: string;
  /** This program, for the guard of the file; without one nobody guards it. */
  readonly program?: string;
  /** `/etc/resolv.conf`. */
  readonly path?: string;
};

export function createHostResolver({ backupPath, program, path = RESOLV_CONF }: HostResolverOptions): HostResolver {
  const file = createSwappedFile({ path, backupPath });
  let link: string | null = null;
  let guard: Guard | null = null;
  let upstreams: readonly Endpoint[] = [];
  const restore = async (): Promise<void> => {
    if (link !== null) await runCommand(RESOLVECTL, ["revert", link]);
    link = null;
    file.restore();
    guard?.disarm();
    guard = null;
    upstreams = [];
  };
  const useFile = (names: HostNames): Result<HostMode, HostResolverError> => {
    const before = parseResolvConf(file.original());
    upstreams = endpointsOf(before.nameservers.filter((address) => !names.servers.includes(address)));
    const written = file.write(withWeft(before, names));
    if (!written.ok) return written;
    if (program !== undefined) guard ??= armGuard(program, { path, backupPath });
    return ok("file");
  };
  return {
    async use(names) {
      if (sharesFileWithOthers(path)) {
        const message =
          "this network namespace has no resolver file of its own, and the one of the whole host is left alone";
        return err({ code: "shared", message });
      }
      if (!(await usesResolved(path))) return useFile(names);
      link = names.interfaceName;
      upstreams = endpointsOf(resolvedUpstreams());
      const told = await tellResolved(names);
      return told.ok ? ok("systemd-resolved") : told;
    },
    restore,
    upstreams: () => upstreams,
  };
}

/** The stub of systemd-resolved is what the host asks, and it can be told about links. */
async function usesResolved(path: string): Promise<boolean> {
  const { nameservers } = parseResolvConf(readText(path));
  const asksStub = nameservers.some((address) => address === "127.0.0.53" || address === "127.0.0.54");
  return asksStub && (await runCommand(RESOLVECTL, ["status", "--no-pager"])).ok;
}

/** Settings of our link: they are gone with the link, however the agent ends. */
async function tellResolved(names: HostNames): Promise<Result<undefined, HostResolverError>> {
  const domains = [...names.search, ...names.domains.map((domain) => `~${domain}`)];
  const steps = [
    ["dns", names.interfaceName, ...names.servers],
    ["domain", names.interfaceName, ...domains, ...(names.scope === "all" ? ["~."] : [])],
    ["default-route", names.interfaceName, names.scope === "all" ? "yes" : "no"],
  ];
  for (const step of steps) {
    const done = await runCommand(RESOLVECTL, step);
    if (!done.ok) return done;
  }
  return ok(undefined);
}

function resolvedUpstreams(): readonly IpAddress[] {
  return parseResolvConf(readText(RESOLVED_UPSTREAMS)).nameservers;
}

/** A namespace for the network alone sees the file of the whole host; only a mount of its own makes it ours. */
function sharesFileWithOthers(path: string): boolean {
  if (path !== RESOLV_CONF) return false;
  const [own, first] = ["/proc/self/ns/net", "/proc/1/ns/net"].map(readLink);
  if (own === "" || first === "" || own === first) return false;
  const mounts = readText("/proc/self/mountinfo").split("\n");
  return !mounts.some((line) => line.split(" ")[4] === path);
}

function endpointsOf(addresses: readonly IpAddress[]): Endpoint[] {
  return addresses.flatMap((address) => {
    const endpoint = endpointOf(address, DNS_PORT);
    return endpoint.ok ? [endpoint.value] : [];
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const RESOLVECTL = "resolvectl";
const RESOLVED_UPSTREAMS = "/run/systemd/resolve/resolv.conf";
const DNS_PORT = 53;
