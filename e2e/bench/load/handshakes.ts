import { z } from "zod";

import type { Host } from "../../harness/namespaces.ts";
import { startProgram } from "../../harness/programs.ts";
import { repositoryPath } from "../../harness/repository.ts";
import type { WireguardKeys } from "../../harness/wireguard-keys.ts";

/** A program with initiations ready, beside the responder it will call. */
export type HandshakeLoad = {
  /** As many handshakes as are answered, `window` of them at a time. */
  readonly rate: (seconds: number, window: number) => Promise<{ answered: number; lost: number; seconds: number }>;
  /** Milliseconds until the first answer; null when none came. */
  readonly first: () => Promise<number | null>;
  /** Peers as patient as real ones; `done` got through, `first` of them at the first try. */
  readonly legitimate: (seconds: number, count: number) => Promise<{ tried: number; done: number; first: number }>;
  readonly stop: () => Promise<void>;
};

export type HandshakeLoadOptions = {
  readonly host: Host;
  readonly responder: Buffer;
  readonly address: string;
  readonly port: number;
  readonly peers: readonly WireguardKeys[];
  /** Initiations of each peer to prepare. */
  readonly perPeer: number;
  /** First of the addresses, one a peer, from which `legitimate` peers call; local ones of the host. */
  readonly firstSource: string;
  /** The one core that it may use. */
  readonly core: number;
};

/** Starts the program and waits until its initiations are prepared. */
export async function startHandshakeLoad(options: HandshakeLoadOptions): Promise<HandshakeLoad> {
  const program = startProgram({
    name: "handshake load",
    program: process.execPath,
    args: [repositoryPath("packages", "dataplane", "dist", "bench", "handshake-load.js")],
    host: options.host,
    core: options.core,
    stopBy: "closing its input",
  });
  const settings = {
    responder: options.responder.toString("base64"),
    address: options.address,
    port: options.port,
    peers: options.peers.map(({ privateKey }) => privateKey.toString("base64")),
    perPeer: options.perPeer,
    firstSource: options.firstSource,
  };
  program.write(`${JSON.stringify(settings)}\n`);
  await program.waitForLine("ready", PREPARE_MS, (line) => (line.includes('"event":"ready"') ? true : undefined));
  let asked = 0;
  const ask = async <T>(line: string, schema: z.ZodType<T>, withinMs: number): Promise<T> => {
    asked += 1;
    let seen = 0;
    program.write(`${line}\n`);
    return program.waitForLine(line, withinMs, (said) => {
      if (!said.startsWith("{") || said.includes('"event"')) return undefined;
      seen += 1;
      return seen === asked ? schema.parse(JSON.parse(said)) : undefined;
    });
  };
  return {
    rate: (seconds, window) => ask(`rate ${String(seconds)} ${String(window)}`, Rate, seconds * 1_000 + SLACK_MS),
    first: async () => (await ask("first", First, SLACK_MS)).ms,
    legitimate: (seconds, count) =>
      ask(`legitimate ${String(seconds)} ${String(count)}`, Legitimate, seconds * 1_000 + SLACK_MS),
    stop: async () => {
      await program.stop();
    },
  };
}

const Rate = z.object({ answered: z.number(), lost: z.number(), seconds: z.number() });
const First = z.object({ ms: z.number().nullable() });
const Legitimate = z.object({ tried: z.number(), done: z.number(), first: z.number() });
const PREPARE_MS = 180_000;
const SLACK_MS = 60_000;
