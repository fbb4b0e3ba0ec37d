import { z } from "zod";

import { argv } from "./argv.ts";
import type { Host } from "./namespaces.ts";
import { startProgram, type Program } from "./programs.ts";
import { builtProgram } from "./repository.ts";

/** Where traffic starts, and the host and overlay address where it ends. */
export type Road = {
  readonly from: Host;
  readonly to: Host;
  readonly address: string;
  /** Where the far end listens when address translation lies between; the address itself when absent. */
  readonly listenAddress?: string;
};

export type TransferResult = z.infer<typeof TransferSchema>;
export type DatagramResult = z.infer<typeof DatagramSchema>;
export type MannersResult = z.infer<typeof MannersSchema>;
export type StreamResult = z.infer<typeof StreamSchema>;
export type FlowsResult = z.infer<typeof FlowsSchema>;
export type PingResult = { readonly sent: number; readonly received: number };

/** Sends pseudo-random bytes over TCP and compares what arrived. */
export async function transferBytes(road: Road, bytes: number): Promise<TransferResult> {
  return withServer(road, TRANSFER, async (port) => {
    const output = await road.from.must(
      process.execPath,
      argv`${builtProgram(TRANSFER)} send ${road.address} ${port} ${bytes}`,
      { timeoutMs: 150_000 },
    );
    return TransferSchema.parse(JSON.parse(output));
  });
}

/** Sends UDP datagrams of every size up to the largest and compares what comes back. */
export async function exchangeDatagrams(road: Road, largest: number): Promise<DatagramResult> {
  return withServer(road, DATAGRAMS, async (port) => {
    const output = await road.from.must(
      process.execPath,
      argv`${builtProgram(DATAGRAMS)} exchange ${road.address} ${port} ${largest}`,
    );
    return DatagramSchema.parse(JSON.parse(output));
  });
}

/** Small writes, a half-close and a reset, and what both ends saw of them. */
export async function showManners(road: Road): Promise<MannersResult> {
  return withServer(road, MANNERS, async (port) => {
    const output = await road.from.must(process.execPath, argv`${builtProgram(MANNERS)} visit ${road.address} ${port}`);
    return MannersSchema.parse(JSON.parse(output));
  });
}

/** Runs a stream of constant rate and says how long its longest stall was. */
export async function steadyStream(road: Road, mbit: number, seconds: number): Promise<StreamResult> {
  return withServer(road, STEADY, async (port) => {
    const output = await road.from.must(
      process.execPath,
      argv`${builtProgram(STEADY)} send ${road.address} ${port} ${mbit} ${seconds}`,
      { timeoutMs: (seconds + 30) * 1_000 },
    );
    return StreamSchema.parse(JSON.parse(output));
  });
}

/** Sends UDP flows of constant rate side by side, and says what came back of them, in which order and after which gaps. */
export async function pacedFlows(road: Road, flows: number, seconds: number): Promise<FlowsResult> {
  return withServer(road, PACED, async (port) => {
    const output = await road.from.must(
      process.execPath,
      argv`${builtProgram(PACED)} send ${road.address} ${port} ${flows} ${seconds}`,
      { timeoutMs: (seconds + 30) * 1_000 },
    );
    return FlowsSchema.parse(JSON.parse(output));
  });
}

/** Starts UDP flows of one datagram each, so many a second, until it is stopped. */
export function churnFlows({ from, address }: Road, perSecond: number): Program {
  return startProgram({
    name: `${CHURN} from ${from.label}`,
    program: process.execPath,
    args: argv`${builtProgram(CHURN)} ${address} ${perSecond}`,
    host: from,
  });
}

/**
 * Sends echo requests at an interval and counts which of the first `count` were answered. Without a deadline (-w) ping waits
 * for the last answers no longer than one interval, and a busy machine looks like a loss; with it, ping goes on sending
 * until so many answers have come, and a request without an answer is one that was lost.
 */
export async function countPings(road: Road, count: number, intervalMs: number): Promise<PingResult> {
  const deadlineSeconds = Math.ceil((count * intervalMs) / 1_000) + PING_PATIENCE_SECONDS;
  const { stdout } = await road.from.run(
    "ping",
    argv`-n -c ${count} -i ${intervalMs / 1_000} -w ${deadlineSeconds} ${road.address}`,
    { timeoutMs: deadlineSeconds * 1_000 + 20_000 },
  );
  const answered = new Set([...stdout.matchAll(/icmp_seq=(\d+) /g)].map(([, number]) => Number(number)));
  return { sent: count, received: [...answered].filter((number) => number <= count).length };
}

async function withServer<T>(road: Road, program: string, use: (port: number) => Promise<T>): Promise<T> {
  lastPort += 1;
  const port = lastPort;
  const server: Program = startProgram({
    name: `${program} on ${road.to.label}`,
    program: process.execPath,
    args: argv`${builtProgram(program)} serve ${road.listenAddress ?? road.address} ${port}`,
    host: road.to,
  });
  try {
    await server.waitForLine("ready", 10_000, (line) => (line === "ready" ? true : undefined));
    return await use(port);
  } finally {
    await server.stop();
  }
}

const TransferSchema = z.object({
  sentBytes: z.number(),
  receivedBytes: z.number(),
  identical: z.boolean(),
  seconds: z.number(),
});
const DatagramSchema = z.object({
  sent: z.number(),
  identical: z.number(),
  altered: z.number(),
  lost: z.number(),
  reordered: z.number(),
});
const VisitSchema = z.object({ bytes: z.number(), same: z.boolean(), previousEnd: z.string() });
const MannersSchema = z.object({ small: VisitSchema, after: VisitSchema });
const StreamSchema = z.object({
  sentSteps: z.number(),
  answeredSteps: z.number(),
  longestGapMs: z.number(),
  /** Wall clock when the first step left; null when no connection came. */
  firstSentAtMs: z.number().nullable(),
});
const FlowsSchema = z.object({
  sent: z.number(),
  returned: z.number(),
  reordered: z.number(),
  longestGapMs: z.number(),
  silentFlows: z.number(),
});
const TRANSFER = "harness/traffic/transfer.js";
const DATAGRAMS = "harness/traffic/datagrams.js";
const MANNERS = "harness/traffic/manners.js";
const STEADY = "harness/traffic/steady-stream.js";
const PACED = "harness/traffic/paced-flows.js";
const CHURN = "harness/traffic/churn.js";
const PING_PATIENCE_SECONDS = 3;
let lastPort = 20_000;
