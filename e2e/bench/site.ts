import { z } from "zod";

import { createLab, type CableKind, type Host, type Lab } from "../harness/namespaces.ts";
import { startProgram } from "../harness/programs.ts";

/** The two ends of a measured link, and a third host behind the second for forwarded traffic. */
export type Site = {
  readonly a: Host;
  readonly b: Host;
  readonly c: Host;
  /** What the kernel gives a fresh veth, for the record. */
  readonly defaultOffloads: Readonly<Record<string, string>>;
  /** Switches the link between the kernel's defaults and the behaviour of a network card. */
  readonly setCable: (kind: CableKind) => Promise<void>;
  readonly dispose: () => Promise<void>;
};

/** Bytes and packets that an interface has taken in and given out, as its host sees it. */
export type InterfaceCounters = {
  readonly rxBytes: number;
  readonly txBytes: number;
  readonly rxPackets: number;
  readonly txPackets: number;
};

/** Builds hosts A, B and C with an iperf3 server on B and on C. */
export async function createSite(): Promise<Site> {
  const lab = await createLab();
  const [a, b, c] = [await lab.host("a"), await lab.host("b"), await lab.host("c")];
  await layOut(lab, [a, b, c]);
  for (const [host, port] of [
    [b, IPERF_PORT],
    [c, FORWARDED_PORT],
  ] as const) {
    const server = startProgram({
      name: `iperf3 on ${host.label}`,
      program: "iperf3",
      args: ["--server", "--port", String(port), "--forceflush"],
      host,
    });
    await server.waitForLine("listening", 5_000, (line) => (line.includes("Server listening") ? true : undefined));
  }
  const defaultOffloads = await readOffloads(a);
  return {
    a,
    b,
    c,
    defaultOffloads,
    async setCable(kind) {
      for (const host of [a, b]) await host.must("ethtool", ["-K", UNDERLAY, ...cableFlags(kind, defaultOffloads)]);
    },
    dispose: lab.dispose,
  };
}

/** Reads the counters of one interface of a host. */
export async function interfaceCounters(host: Host, interfaceName: string): Promise<InterfaceCounters> {
  const shown = LinkStatistics.parse(
    JSON.parse(await host.must("ip", ["-json", "-statistics", "link", "show", "dev", interfaceName])),
  );
  const stats = shown[0].stats64;
  return {
    rxBytes: stats.rx.bytes,
    txBytes: stats.tx.bytes,
    rxPackets: stats.rx.packets,
    txPackets: stats.tx.packets,
  };
}

async function layOut(lab: Lab, [a, b, c]: readonly [Host, Host, Host]): Promise<void> {
  await lab.cable(
    { host: a, interfaceName: UNDERLAY, addresses: [`${UNDERLAY_ADDRESSES.a}/24`, "2001:db8::1/64"] },
    { host: b, interfaceName: UNDERLAY, addresses: [`${UNDERLAY_ADDRESSES.b}/24`, "2001:db8::2/64"] },
    "veth",
  );
  await lab.cable(
    { host: b, interfaceName: "behind0", addresses: ["198.51.100.1/24"] },
    { host: c, interfaceName: "eth0", addresses: [`${FORWARDED_ADDRESS}/24`] },
    "veth",
  );
  await b.must("sysctl", ["-q", "-w", "net.ipv4.ip_forward=1"]);
}

async function readOffloads(host: Host): Promise<Record<string, string>> {
  const shown = await host.must("ethtool", ["-k", UNDERLAY]);
  const states: Record<string, string> = {};
  for (const [flag, longName] of Object.entries(OFFLOAD_NAMES)) {
    const found = new RegExp(`^\\s*${longName}: (on|off)`, "m").exec(shown)?.[1];
    if (found !== undefined) states[flag] = found;
  }
  return states;
}

function cableFlags(kind: CableKind, defaults: Readonly<Record<string, string>>): string[] {
  switch (kind) {
    case "veth":
      return Object.entries(defaults).flat();
    case "nic":
      return Object.keys(defaults).flatMap((flag) => [flag, flag === "gro" ? "on" : "off"]);
  }
}

const Direction = z.object({ bytes: z.number(), packets: z.number() });
const LinkStatistics = z.tuple([z.object({ stats64: z.object({ rx: Direction, tx: Direction }) })]).rest(z.unknown());
const OFFLOAD_NAMES = {
  tso: "tcp-segmentation-offload",
  gso: "generic-segmentation-offload",
  "tx-udp-segmentation": "tx-udp-segmentation",
  gro: "generic-receive-offload",
};

export const UNDERLAY = "eth0";
export const UNDERLAY_ADDRESSES = { a: "192.0.2.1", b: "192.0.2.2" } as const;
export const FORWARDED_ADDRESS = "198.51.100.2";
export const IPERF_PORT = 5201;
export const FORWARDED_PORT = 5301;
