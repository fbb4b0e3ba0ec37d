import { cpuSeconds, machineTicks, residentBytes } from "../harness/process-usage.ts";
import type { Tunnel } from "./contenders/contender.ts";
import { interfaceCounters, UNDERLAY, type Site } from "./site.ts";

/** What moved and what it cost while one run was on. */
export type Usage = {
  /** User and system seconds of both daemons. */
  readonly cpuSeconds: number;
  /** Share of all processor time that went to software interrupts, 0 to 1. */
  readonly softirqShare: number;
  /** Bytes that the tunnel interfaces of A and B handed to their hosts. */
  readonly deliveredBytes: number;
  /** Bytes that the tunnel interface of B handed to its host. */
  readonly deliveredBytesAtB: number;
  /** Frames that the tunnel interface of B handed to its host, super-packets counted once. */
  readonly deliveredFramesAtB: number;
  /** Bytes that left A and B on the link. */
  readonly linkBytes: number;
  /** Resident memory of the larger daemon at the end, in MB (10^6 bytes); 0 without daemons. */
  readonly rssMb: number;
};

/** Runs an action and reports what the tunnel carried and what its daemons spent meanwhile. */
export async function measureUsage<T>(
  site: Site,
  tunnel: Tunnel,
  action: () => Promise<T>,
): Promise<{ readonly result: T; readonly usage: Usage }> {
  const before = await look(site, tunnel);
  const result = await action();
  const after = await look(site, tunnel);
  const ticks = after.ticks.total - before.ticks.total;
  return {
    result,
    usage: {
      cpuSeconds: after.cpu - before.cpu,
      softirqShare: ticks === 0 ? 0 : (after.ticks.softirq - before.ticks.softirq) / ticks,
      deliveredBytes: after.deliveredBytes - before.deliveredBytes,
      deliveredBytesAtB: after.deliveredBytesAtB - before.deliveredBytesAtB,
      deliveredFramesAtB: after.deliveredFramesAtB - before.deliveredFramesAtB,
      linkBytes: after.linkBytes - before.linkBytes,
      rssMb: Math.max(0, ...tunnel.daemonPids.map((pid) => residentBytes(pid) / 1e6)),
    },
  };
}

/**
 * Why the bytes of a run did not go where they should have, or `undefined`.
 *
 * The tunnel interfaces must have delivered, and the link must have carried, at least what the receivers counted.
 */
export function pathProblem(
  payloadBytes: number,
  usage: Pick<Usage, "deliveredBytes" | "linkBytes">,
): string | undefined {
  const needed = payloadBytes * COUNTING_SLACK;
  if (usage.deliveredBytes < needed) {
    return `traffic took another path: ${String(payloadBytes)} bytes received, ${String(usage.deliveredBytes)} delivered by the tunnel`;
  }
  if (usage.linkBytes < needed) {
    return `traffic took another path: ${String(payloadBytes)} bytes received, ${String(usage.linkBytes)} on the link`;
  }
  return undefined;
}

async function look(site: Site, tunnel: Tunnel) {
  const [a, b, linkA, linkB] = await Promise.all([
    interfaceCounters(site.a, tunnel.interfaces.a),
    interfaceCounters(site.b, tunnel.interfaces.b),
    interfaceCounters(site.a, UNDERLAY),
    interfaceCounters(site.b, UNDERLAY),
  ]);
  return {
    cpu: tunnel.daemonPids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    ticks: machineTicks(),
    deliveredBytes: a.rxBytes + b.rxBytes,
    deliveredBytesAtB: b.rxBytes,
    deliveredFramesAtB: b.rxPackets,
    linkBytes: linkA.txBytes + linkB.txBytes,
  };
}

/** Interface counters may miss the last packets in flight. */
const COUNTING_SLACK = 0.98;
