import { spawnSync } from "node:child_process";

import { argv } from "./argv.ts";
import { cleanUpLater } from "./cleanup.ts";
import { isStillRunning, markProcess } from "./process-mark.ts";
import { mustRun, runCommand, type CommandOptions, type CommandResult } from "./run-command.ts";

/** A host of its own: a network namespace with loopback up and duplicate address detection off. */
export type Host = {
  readonly label: string;
  readonly namespace: string;
  /** The command line that runs a program inside this host. The program keeps the process id of the command. */
  readonly wrap: (program: string, args: readonly string[]) => readonly [string, ...string[]];
  readonly run: (program: string, args: readonly string[], options?: CommandOptions) => Promise<CommandResult>;
  readonly must: (program: string, args: readonly string[], options?: CommandOptions) => Promise<string>;
};

/** One end of a cable: an interface of a host with its addresses in CIDR form. */
export type Plug = { readonly host: Host; readonly interfaceName: string; readonly addresses: readonly string[] };

/** How a cable treats large packets: the kernel's defaults, or like a card that cannot segment but whose receiver merges. */
export type CableKind = "veth" | "nic";

/** A set of hosts and cables that disappear together. */
export type Lab = {
  readonly host: (label: string) => Promise<Host>;
  /** Joins two hosts by a veth pair of MTU 1500. */
  readonly cable: (left: Plug, right: Plug, kind: CableKind) => Promise<void>;
  /** Joins hosts through a bridge that lives in the first one and carries its addresses. */
  readonly bridge: (centre: Plug, others: readonly Plug[]) => Promise<void>;
  readonly dispose: () => Promise<void>;
};

/** Creates an empty lab. Needs the right to make network namespaces; names carry this process's id. */
export async function createLab(): Promise<Lab> {
  await removeAbandoned();
  labCount += 1;
  const startTicks = markProcess(process.pid)?.startTicks ?? "0";
  const prefix = `weft-e2e-${String(process.pid)}-${startTicks}-${String(labCount)}-`;
  const hosts: Host[] = [];
  const dispose = cleanUpLater({
    name: `namespaces ${prefix}*`,
    run: async () => {
      await Promise.all(hosts.map((host) => removeNamespace(host.namespace)));
    },
    runSync: () => {
      for (const host of hosts) spawnSync("ip", ["netns", "delete", host.namespace]);
    },
  });
  return {
    async host(label) {
      const host = makeHost(label, prefix + label);
      await mustRun("ip", ["netns", "add", host.namespace]);
      hosts.push(host);
      // Each may be refused: CUBIC where it is not offered to namespaces, all where /proc/sys is read-only.
      for (const setting of HOST_SETTINGS) await host.run("sysctl", ["-q", "-w", setting]);
      await host.must("ip", ["link", "set", "lo", "up"]);
      return host;
    },
    cable: layCable,
    bridge: layBridge,
    dispose,
  };
}

async function layCable(left: Plug, right: Plug, kind: CableKind): Promise<void> {
  await mustRun(
    "ip",
    argv`link add ${left.interfaceName} mtu 1500 netns ${left.host.namespace} type veth
      peer name ${right.interfaceName} mtu 1500 netns ${right.host.namespace}`,
  );
  for (const plug of [left, right]) {
    if (kind === "nic") await plug.host.must("ethtool", ["-K", plug.interfaceName, ...NIC_OFFLOADS]);
    await bringUp(plug);
  }
}

async function layBridge(centre: Plug, others: readonly Plug[]): Promise<void> {
  await centre.host.must("ip", ["link", "add", centre.interfaceName, "type", "bridge", "forward_delay", "0"]);
  await bringUp(centre);
  for (const [index, plug] of others.entries()) {
    const port: Plug = { host: centre.host, interfaceName: `port${String(index)}`, addresses: [] };
    await layCable(port, plug, "veth");
    await centre.host.must("ip", ["link", "set", port.interfaceName, "master", centre.interfaceName]);
  }
}

async function bringUp(plug: Plug): Promise<void> {
  for (const address of plug.addresses) {
    const flags = address.includes(":") ? ["nodad"] : [];
    await plug.host.must("ip", ["address", "add", address, "dev", plug.interfaceName, ...flags]);
  }
  await plug.host.must("ip", ["link", "set", plug.interfaceName, "up"]);
}

function makeHost(label: string, namespace: string): Host {
  const wrap = (program: string, args: readonly string[]): readonly [string, ...string[]] => [
    "nsenter",
    `--net=/run/netns/${namespace}`,
    program,
    ...args,
  ];
  const enter = (program: string, args: readonly string[]): string[] => wrap(program, args).slice(1);
  return {
    label,
    namespace,
    wrap,
    run: (program, args, options) => runCommand("nsenter", enter(program, args), options),
    must: (program, args, options) => mustRun("nsenter", enter(program, args), options),
  };
}

/** Ends every process that still runs in one of our namespaces, then deletes it. */
async function removeNamespace(name: string): Promise<void> {
  const listed = await runCommand("ip", ["netns", "pids", name]);
  for (const line of listed.stdout.split("\n")) {
    const pid = Number.parseInt(line, 10);
    if (Number.isInteger(pid) && pid !== process.pid) killQuietly(pid);
  }
  await runCommand("ip", ["netns", "delete", name]);
}

/** Deletes what a killed run left behind: namespaces of ours whose process no longer exists. */
async function removeAbandoned(): Promise<void> {
  const listed = await runCommand("ip", ["netns", "list"]);
  for (const line of listed.stdout.split("\n")) {
    const name = line.split(" ")[0] ?? "";
    const [, pid, startTicks] = OWNER_IN_NAME.exec(name) ?? [];
    if (pid === undefined || startTicks === undefined) continue;
    if (!isStillRunning({ pid: Number(pid), startTicks })) await removeNamespace(name);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended between the listing and now.
  }
}

const OWNER_IN_NAME = /^weft-e2e-(\d+)-(\d+)-/;
const HOST_SETTINGS = [
  "net.ipv6.conf.all.accept_dad=0",
  "net.ipv6.conf.default.accept_dad=0",
  "net.ipv4.ping_group_range=0 0",
  "net.ipv4.tcp_congestion_control=cubic",
];
const NIC_OFFLOADS = ["tso", "off", "gso", "off", "tx-udp-segmentation", "off", "gro", "on"];
let labCount = 0;
