import { iperfTcp } from "../load/iperf.ts";
import { ping, type PingResult } from "../load/ping.ts";
import { IPERF_PORT } from "../site.ts";
import { percentile } from "../statistics.ts";
import type { CaseContext, Sample, TunnelCase } from "./suite.ts";

/** Round-trip time while nothing else runs, and under one bulk TCP stream. */
export function latencyCases(): TunnelCase[] {
  const common = { unit: "µs p50", cable: "veth", rawLink: "is not a limit" } as const;
  return [
    { ...common, name: "ping-idle", group: "idle", run: pingIdle },
    { ...common, name: "ping-loaded", group: "loaded", run: pingUnderLoad },
  ];
}

async function pingIdle(context: CaseContext): Promise<Sample> {
  return toSample(await pingFor(context, context.seconds));
}

async function pingUnderLoad(context: CaseContext): Promise<Sample> {
  const { site, tunnel, seconds } = context;
  const load = iperfTcp({ from: site.a, to: tunnel.v4.b, seconds: seconds + LEAD_SECONDS, port: IPERF_PORT });
  const [result, answers] = await Promise.all([
    load,
    site.a.must("sleep", [String(LEAD_SECONDS)]).then(() => pingFor(context, seconds)),
  ]);
  const sample = toSample(answers);
  return { ...sample, extra: { ...sample.extra, gbit: result.bitsPerSecond / 1e9 } };
}

function pingFor({ site, tunnel }: CaseContext, seconds: number): Promise<PingResult> {
  const count = Math.round((seconds * 1_000) / INTERVAL_MS);
  return ping({ from: site.a, to: tunnel.v4.b, count, intervalMs: INTERVAL_MS });
}

function toSample({ sent, timesUs }: PingResult): Sample {
  return {
    value: percentile(timesUs, 0.5),
    extra: {
      p99: percentile(timesUs, 0.99),
      max: Math.max(...timesUs),
      lossPercent: (1 - timesUs.length / sent) * 100,
    },
  };
}

const INTERVAL_MS = 10;
/** The load runs this long before the first echo request, and as long after the last. */
const LEAD_SECONDS = 1;
