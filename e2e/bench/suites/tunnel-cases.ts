import type { CableKind } from "../../harness/namespaces.ts";
import { builtProgram } from "../../harness/repository.ts";
import { startProgram } from "../../harness/programs.ts";
import { z } from "zod";

import { iperfTcp, iperfUdp, type IperfOptions } from "../load/iperf.ts";
import { measureUsage, pathProblem, type Usage } from "../measure.ts";
import { FORWARDED_ADDRESS, FORWARDED_PORT, IPERF_PORT } from "../site.ts";
import { countSyscalls } from "../syscalls.ts";
import type { CaseContext, Sample, TunnelCase } from "./suite.ts";

/** Every case of the suite `tunnel`, in the order in which they run; bulk cases in both variants of the link. */
export function tunnelCases(): TunnelCase[] {
  return [...bulkCases("veth"), ...bulkCases("nic"), ...smallPacketCases()];
}

/** Cases of one group are compared with each other: tcp-1 backwards, over IPv6 and forwarded. */
function bulkCases(cable: CableKind): TunnelCase[] {
  const one = (name: string, run: TunnelCase["run"]) => bulk({ name, group: "one stream", cable }, run);
  return [
    withSyscalls(one("tcp-1", (context) => tcp(context, []))),
    one("tcp-1-reverse", (context) => tcp(context, ["--reverse"])),
    one("tcp-1-v6", (context) => tcp(context, [], context.tunnel.v6.b)),
    ...(cable === "veth" ? [one("forwarded", forwarded)] : []),
    bulk({ name: "tcp-4", group: "four streams", cable }, (context) => tcp(context, ["--parallel", "4"])),
    bulk({ name: "tcp-bidir", group: "both ways", cable }, (context) => tcp(context, ["--bidir"])),
    { ...bulk({ name: "udp-1372", group: "udp bulk", cable }, udpUnlimited), unit: "Mbit/s", rawLink: UNBOUND },
  ];
}

function smallPacketCases(): TunnelCase[] {
  return [
    only("udp-paced-200", "% lost", (context) => udpPaced(context, 200)),
    only("udp-paced-400", "% lost", (context) => udpPaced(context, 400)),
    only("udp-64", "packets/s", udpSmall),
    only("short", "transfers/s", shortTransfers),
  ];
}

async function tcp(context: CaseContext, flags: readonly string[], to = context.tunnel.v4.b): Promise<Sample> {
  const { site, tunnel } = context;
  const before = await tunnel.stageNanoseconds?.();
  const { result, usage } = await measureUsage(site, tunnel, () => iperfTcp({ ...load(context), to, flags }));
  const after = await tunnel.stageNanoseconds?.();
  return {
    value: result.bitsPerSecond / 1e9,
    extra: {
      ...costs(usage),
      ...(before && after ? { filterShare: shareOf("filter", before, after) } : {}),
      retransmits: result.retransmits,
      slowestSecond: result.slowestBitsPerSecond / 1e9,
    },
    ...problem(pathProblem(result.bytes, usage)),
  };
}

/** Share of the workers' time in all stages. */
function shareOf(
  stage: string,
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): number {
  const spent = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  const all = Object.keys(after).reduce((sum, name) => sum + spent(name), 0);
  return all === 0 ? Number.NaN : spent(stage) / all;
}

async function udpUnlimited(context: CaseContext): Promise<Sample> {
  const { result, usage } = await udp(context, 1_372, "0");
  return {
    value: result.receivedBitsPerSecond / 1e6,
    extra: { ...costs(usage), lossPercent: result.lossPercent, ...delivered(usage, context, 1_372) },
    ...problem(pathProblem(result.receivedBytes, usage)),
  };
}

async function udpPaced(context: CaseContext, mbit: number): Promise<Sample> {
  const { result, usage } = await udp(context, 1_372, `${String(mbit)}M`);
  return {
    value: result.lossPercent,
    extra: {
      cpuSeconds: usage.cpuSeconds,
      receivedMbit: result.receivedBitsPerSecond / 1e6,
      softirqShare: usage.softirqShare,
    },
    ...problem(pathProblem(result.receivedBytes, usage)),
  };
}

async function udpSmall(context: CaseContext): Promise<Sample> {
  const { result, usage } = await udp(context, 64, "0");
  return {
    value: result.receivedPacketsPerSecond,
    extra: { ...costs(usage), lossPercent: result.lossPercent, ...delivered(usage, context, 64) },
    ...problem(pathProblem(result.receivedBytes, usage)),
  };
}

function udp(context: CaseContext, length: number, bitrate: string) {
  return measureUsage(context.site, context.tunnel, () =>
    iperfUdp({ ...load(context), length, flags: ["--bitrate", bitrate] }),
  );
}

async function shortTransfers({ site, tunnel, seconds }: CaseContext): Promise<Sample> {
  const program = builtProgram("bench/load/short-transfers.js");
  const server = startProgram({
    name: "short-transfers server",
    program: process.execPath,
    args: [program, "serve", tunnel.v4.b, String(SHORT_PORT)],
    host: site.b,
  });
  await server.waitForLine("ready", 5_000, (line) => (line === "ready" ? true : undefined));
  const { result, usage } = await measureUsage(site, tunnel, () =>
    site.a.must(process.execPath, [program, "fetch", tunnel.v4.b, String(SHORT_PORT), String(seconds)]),
  );
  await server.stop();
  const counted = ShortResult.parse(JSON.parse(result));
  const broken = counted.broken === 0 ? undefined : `${String(counted.broken)} short transfers were cut`;
  return {
    value: counted.transfers / counted.seconds,
    extra: { cpuSeconds: usage.cpuSeconds, broken: counted.broken },
    ...problem(broken ?? pathProblem(counted.transfers * SHORT_BYTES, usage)),
  };
}

/** A reaches C through B, which forwards between the tunnel and its second link by address translation. */
async function forwarded(context: CaseContext): Promise<Sample> {
  const { site, tunnel } = context;
  const target = `${FORWARDED_ADDRESS}:${String(FORWARDED_PORT)}`;
  await site.b.must("nft", ["-f", "-"], {
    input: `table ip weft_bench {
      chain before { type nat hook prerouting priority dstnat; ip daddr ${tunnel.v4.b} tcp dport ${String(FORWARDED_PORT)} dnat to ${target}; }
      chain after { type nat hook postrouting priority srcnat; oifname "behind0" masquerade; }
    }`,
  });
  try {
    const { result, usage } = await measureUsage(site, tunnel, () =>
      iperfTcp({ ...load(context), port: FORWARDED_PORT }),
    );
    return {
      value: result.bitsPerSecond / 1e9,
      extra: { ...costs(usage), retransmits: result.retransmits },
      ...problem(pathProblem(result.bytes, usage)),
    };
  } finally {
    await site.b.must("nft", ["delete", "table", "ip", "weft_bench"]);
  }
}

function load({ site, tunnel, seconds }: CaseContext): IperfOptions {
  return { from: site.a, to: tunnel.v4.b, seconds, port: IPERF_PORT };
}

function costs(usage: Usage): Record<string, number> {
  return {
    cpuSecondsPerGB: usage.deliveredBytes === 0 ? Number.NaN : usage.cpuSeconds / (usage.deliveredBytes / 1e9),
    softirqShare: usage.softirqShare,
    rssMB: usage.rssMb,
  };
}

/**
 * What the tunnel handed to B's kernel, which may be more than the load tool could read. Nothing for the bare link.
 *
 * A frame of several merged packets has one header of 28 bytes, so bytes and frames together give the packets.
 */
function delivered(usage: Usage, { seconds, tunnel }: CaseContext, length: number): Record<string, number> {
  if (tunnel.daemonPids.length === 0) return {};
  const payload = Math.max(0, usage.deliveredBytesAtB - usage.deliveredFramesAtB * UDP_HEADERS);
  const span = seconds + OMITTED_SECONDS;
  return { deliveredMbit: (payload * 8) / span / 1e6, deliveredPacketsPerSecond: payload / length / span };
}

function problem(reason: string | undefined): { readonly problem?: string } {
  return reason === undefined ? {} : { problem: reason };
}

function bulk(what: Pick<TunnelCase, "name" | "group" | "cable">, run: TunnelCase["run"]): TunnelCase {
  const suffix = what.cable === "nic" ? "-nic" : "";
  const [name, group] = [what.name + suffix, what.group + suffix];
  return { name, group, cable: what.cable, unit: "Gbit/s", rawLink: "must be faster", run };
}

/** Adds the count of system calls to the variant with the kernel's default offloads. */
function withSyscalls(testCase: TunnelCase): TunnelCase {
  return testCase.cable === "veth" ? { ...testCase, afterwards: countSyscalls } : testCase;
}

function only(name: string, unit: string, run: TunnelCase["run"]): TunnelCase {
  return { name, group: name, unit, cable: "veth", rawLink: UNBOUND, run };
}

const UNBOUND = "is not a limit";
const ShortResult = z.object({ transfers: z.number(), broken: z.number(), seconds: z.number() });
const SHORT_PORT = 5_401;
const SHORT_BYTES = 20_000;
const OMITTED_SECONDS = 1;
/** IPv4 and UDP. */
const UDP_HEADERS = 28;
