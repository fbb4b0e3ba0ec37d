import { randomBytes, randomInt } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { argv } from "../../harness/argv.ts";
import type { Host } from "../../harness/namespaces.ts";
import { startProgram } from "../../harness/programs.ts";
import { forgedInitiations } from "./forged.ts";

/** What strangers may send, by kind; neighbours of equal length leave together. */
export type HostileKind = "garbage" | "truncated" | "wrong receiver" | "forged initiation" | "replay" | "altered";

/** Makes datagrams of every kind. Replays need real ones that were seen on the link. */
export async function hostileDatagrams(
  responder: Buffer,
  seen: readonly Buffer[],
): Promise<ReadonlyMap<HostileKind, readonly Buffer[]>> {
  return new Map<HostileKind, readonly Buffer[]>([
    ["garbage", inRuns((length) => withFirstByte(randomBytes(length), 5 + randomInt(200)), { from: 1, to: 1_400 })],
    ["truncated", inRuns((length) => withFirstByte(Buffer.alloc(length), 1 + randomInt(4)), { from: 1, to: 31 })],
    ["wrong receiver", Array.from({ length: RUN * RUNS }, () => transport(randomBytes(1_424)))],
    ["forged initiation", await forgedInitiations(responder, RUN * RUNS)],
    ["replay", seen],
    ["altered", seen.map(altered)],
  ]);
}

/** Records datagrams to a UDP port at a host's interface while an action runs; only those that came in one by one. */
export async function recordDatagrams(
  where: { readonly host: Host; readonly interfaceName: string; readonly port: number },
  action: () => Promise<unknown>,
): Promise<Buffer[]> {
  // AppArmor lets Debian's tcpdump write to names like this one only.
  const file = join(tmpdir(), `weft-capture-${String(process.pid)}-${randomBytes(4).toString("hex")}.pcap`);
  const program = startProgram({
    name: "tcpdump",
    program: "tcpdump",
    args: argv`-n -U -i ${where.interfaceName} -Q in -w ${file} udp dst port ${where.port}`,
    host: where.host,
  });
  try {
    await program.waitForLine("listening", 10_000, (line) => (line.includes("listening on") ? true : undefined));
    await action();
    program.signal("SIGINT");
    await program.ended;
    return payloads(await readFile(file));
  } finally {
    await rm(file, { force: true });
  }
}

/** The UDP payloads of a capture of IPv4 over Ethernet. */
export function payloads(capture: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let at = FILE_HEADER;
  while (at + RECORD_HEADER <= capture.length) {
    const length = capture.readUInt32LE(at + 8);
    const frame = capture.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length);
    const headers = ETHERNET + ((frame[ETHERNET] ?? 0) & 15) * 4 + UDP_HEADER;
    if (frame.length > headers && frame.length <= FRAME_MAX) found.push(frame.subarray(headers));
    at += RECORD_HEADER + length;
  }
  return found;
}

function inRuns(make: (length: number) => Buffer, range: { readonly from: number; readonly to: number }): Buffer[] {
  return Array.from({ length: RUNS }, () => randomInt(range.from, range.to + 1)).flatMap((length) =>
    Array.from({ length: RUN }, () => make(length)),
  );
}

/** A transport message to a session that does not exist. */
function transport(message: Buffer): Buffer {
  message.writeUInt32LE(4);
  return message;
}

function altered(datagram: Buffer): Buffer {
  const copy = Buffer.from(datagram);
  const last = copy.length - 1;
  copy[last] = (copy[last] ?? 0) ^ 1;
  return copy;
}

function withFirstByte(datagram: Buffer, value: number): Buffer {
  datagram[0] = value;
  return datagram;
}

const RUN = 32;
const RUNS = 64;
const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const ETHERNET = 14;
const UDP_HEADER = 8;
const FRAME_MAX = 1_514;
