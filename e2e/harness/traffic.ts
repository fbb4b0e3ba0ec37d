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
export type StreamResult = z.infer<typeof StreamSchema>;
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

/** Sends echo requests at an interval and counts the answers. */
export async function countPings(road: Road, count: number, intervalMs: number): Promise<PingResult> {
  const { stdout } = await road.from.run(
    "ping",
    argv`-n -q -c ${count} -i ${intervalMs / 1_000} -W 2 ${road.address}`,
    { timeoutMs: count * intervalMs * 2 + 20_000 },
  );
  const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(stdout) ?? [];
  return { sent: Number(sent ?? count), received: Number(received ?? 0) };
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
const StreamSchema = z.object({ sentSteps: z.number(), answeredSteps: z.number(), longestGapMs: z.number() });
const TRANSFER = "harness/traffic/transfer.js";
const DATAGRAMS = "harness/traffic/datagrams.js";
const STEADY = "harness/traffic/steady-stream.js";
let lastPort = 20_000;
