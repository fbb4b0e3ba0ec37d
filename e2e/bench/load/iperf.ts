import { z } from "zod";

import { argv } from "../../harness/argv.ts";
import type { Host } from "../../harness/namespaces.ts";
import { IPERF_PORT } from "../site.ts";

export type IperfOptions = {
  readonly from: Host;
  readonly to: string;
  readonly seconds: number;
  readonly port?: number;
  readonly flags?: readonly string[];
};

export type TcpResult = {
  /** Received, summed over streams and directions, without the first second. */
  readonly bitsPerSecond: number;
  /** Payload bytes that the receivers took, without the first second. */
  readonly bytes: number;
  readonly retransmits: number;
  /** The slowest of the one-second bins: a stall hides in an average. */
  readonly slowestBitsPerSecond: number;
};

export type UdpResult = {
  readonly receivedBitsPerSecond: number;
  readonly receivedPacketsPerSecond: number;
  readonly lossPercent: number;
  readonly receivedBytes: number;
};

/** Runs one TCP measurement with CUBIC; the first second is dropped. */
export async function iperfTcp(options: IperfOptions): Promise<TcpResult> {
  const { end, intervals } = TcpOutput.parse(await runIperf(options, ["--congestion", "cubic"]));
  const received = [end.sum_received, end.sum_received_bidir_reverse].filter((sum) => sum !== undefined);
  const sent = [end.sum_sent, end.sum_sent_bidir_reverse].filter((sum) => sum !== undefined);
  const bins = intervals
    .filter((interval) => !interval.sum.omitted && interval.sum.seconds > SHORT_BIN_SECONDS)
    .map((interval) => interval.sum.bits_per_second + (interval.sum_bidir_reverse?.bits_per_second ?? 0));
  return {
    bitsPerSecond: received.reduce((sum, one) => sum + one.bits_per_second, 0),
    bytes: received.reduce((sum, one) => sum + one.bytes, 0),
    retransmits: sent.reduce((sum, one) => sum + (one.retransmits ?? 0), 0),
    slowestBitsPerSecond: Math.min(...bins),
  };
}

/** Runs one UDP measurement with datagrams of one length; the first second is dropped. */
export async function iperfUdp(options: IperfOptions & { readonly length: number }): Promise<UdpResult> {
  const output = await runIperf(options, argv`--udp --length ${options.length}`);
  return udpResult(UdpOutput.parse(output).end, options.length);
}

/** Runs several paced UDP streams at once and counts packets that arrived behind a later one of their stream. */
export async function iperfUdpOrder(
  options: IperfOptions & { readonly length: number },
): Promise<{ readonly packets: number; readonly outOfOrder: number; readonly lost: number }> {
  const output = await runIperf(options, argv`--udp --length ${options.length}`);
  const streams = OrderOutput.parse(output).end.streams.map(({ udp }) => udp);
  const sum = (of: (udp: (typeof streams)[number]) => number) => streams.reduce((total, udp) => total + of(udp), 0);
  return {
    packets: sum(({ packets }) => packets),
    outOfOrder: sum((udp) => udp.out_of_order),
    lost: sum((udp) => udp.lost_packets),
  };
}

/**
 * Computes the figures of a UDP run from the bytes of both ends.
 *
 * The tool's own count of lost packets includes the dropped first second, so it can exceed what was sent.
 */
export function udpResult(end: z.infer<typeof UdpOutput>["end"], length: number): UdpResult {
  const { sum_sent: sent, sum_received: received } = end;
  return {
    receivedBitsPerSecond: (received.bytes * 8) / received.seconds,
    receivedPacketsPerSecond: received.bytes / length / received.seconds,
    lossPercent: sent.bytes === 0 ? 100 : Math.max(0, 1 - received.bytes / sent.bytes) * 100,
    receivedBytes: received.bytes,
  };
}

async function runIperf(options: IperfOptions, flags: readonly string[]): Promise<unknown> {
  const { from, to, seconds, port = IPERF_PORT } = options;
  const result = await from.run(
    "iperf3",
    [
      ...argv`--client ${to} --port ${port} --json --time ${seconds} --omit 1 --connect-timeout 5000`,
      ...flags,
      ...(options.flags ?? []),
    ],
    { timeoutMs: (seconds + SLACK_SECONDS) * 1_000 },
  );
  let output: unknown;
  try {
    output = JSON.parse(result.stdout);
  } catch {
    throw new Error(
      `iperf3 to ${to} ended with ${String(result.code)}: ${(result.stderr || result.stdout).slice(-500)}`,
    );
  }
  const failed = FailedOutput.safeParse(output);
  if (failed.success) throw new Error(`iperf3 to ${to}: ${failed.data.error}`);
  return output;
}

const FailedOutput = z.object({ error: z.string() });
const TcpSum = z.object({ bytes: z.number(), bits_per_second: z.number(), retransmits: z.number().optional() });
const Bin = z.object({ seconds: z.number(), bits_per_second: z.number(), omitted: z.boolean() });
const TcpOutput = z.object({
  intervals: z.array(z.object({ sum: Bin, sum_bidir_reverse: Bin.optional() })),
  end: z.object({
    sum_sent: TcpSum,
    sum_received: TcpSum,
    sum_sent_bidir_reverse: TcpSum.optional(),
    sum_received_bidir_reverse: TcpSum.optional(),
  }),
});
const UdpSum = z.object({ seconds: z.number(), bytes: z.number() });
const UdpOutput = z.object({ end: z.object({ sum_sent: UdpSum, sum_received: UdpSum }) });
const OrderOutput = z.object({
  end: z.object({
    streams: z.array(
      z.object({ udp: z.object({ packets: z.number(), out_of_order: z.number(), lost_packets: z.number() }) }),
    ),
  }),
});
const SHORT_BIN_SECONDS = 0.5;
const SLACK_SECONDS = 20;
