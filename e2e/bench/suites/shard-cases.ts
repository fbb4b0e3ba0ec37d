import { iperfUdpOrder } from "../load/iperf.ts";
import { measureUsage, pathProblem } from "../measure.ts";
import { IPERF_PORT } from "../site.ts";
import type { CaseContext, Sample, TunnelCase } from "./suite.ts";
import { tunnelCases } from "./tunnel-cases.ts";

/**
 * What the number of workers may change: the cost per GB, and never the order inside a flow.
 *
 * On a machine with fewer processors than workers the speed says little; the cost per GB says what more workers take.
 */
export function shardCases(): TunnelCase[] {
  const bulk = tunnelCases().filter(({ name }) => BULK.includes(name));
  const order: TunnelCase = {
    name: "udp-order",
    group: "udp order",
    unit: "packets out of order",
    cable: "veth",
    rawLink: "is not a limit",
    run: udpOrder,
  };
  return [...bulk, order];
}

async function udpOrder({ site, tunnel, seconds }: CaseContext): Promise<Sample> {
  const { result, usage } = await measureUsage(site, tunnel, () =>
    iperfUdpOrder({
      from: site.a,
      to: tunnel.v4.b,
      seconds,
      port: IPERF_PORT,
      length: LENGTH,
      flags: ["--parallel", STREAMS, "--bitrate", BITRATE],
    }),
  );
  const reason = pathProblem((result.packets - result.lost) * LENGTH, usage);
  const lossPercent = result.packets === 0 ? 100 : (result.lost / result.packets) * 100;
  return {
    value: result.outOfOrder,
    extra: { packets: result.packets, lossPercent, cpuSeconds: usage.cpuSeconds },
    ...(reason === undefined ? {} : { problem: reason }),
  };
}

const BULK: readonly string[] = ["tcp-4", "tcp-bidir"];
const LENGTH = 1_372;
const STREAMS = "16";
/** Of each stream. */
const BITRATE = "10M";
