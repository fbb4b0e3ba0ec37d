/**
 * Starts handshakes over UDP with a responder under test.
 *
 * Usage: node handshake-load.js, with one JSON line of settings on standard input (`SettingsLine`). Prepares initiations,
 * prints {"event":"ready"}, then answers each further line with one JSON line:
 *   rate SECONDS WINDOW        as many handshakes as the responder answers, WINDOW at a time: {"answered","lost","seconds"}
 *   first                      one initiation every 5 ms until one is answered: {"ms"}
 *   legitimate SECONDS COUNT   COUNT peers spread over SECONDS, each as patient as a real one: {"tried","done","first"}
 */
import { randomBytes } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { publicKeyFromBytes } from "@weft/protocol";
import { createLoadInitiator, importLoadKey, type LoadInitiator } from "./initiator.ts";

type Settings = {
  /** 32 bytes in base64. */
  readonly responder: string;
  readonly address: string;
  readonly port: number;
  /** Private keys of the initiating peers, in base64. */
  readonly peers: readonly string[];
  /** Initiations of each peer to prepare, for `rate` and `first`. */
  readonly perPeer: number;
  /** First of the local addresses, one a peer, from which `legitimate` peers call. */
  readonly firstSource: string;
};

/** The peers, their prepared initiations and the socket they share. */
type Load = {
  readonly peers: readonly LoadInitiator[];
  readonly prepared: readonly Uint8Array[];
  readonly socket: Socket;
  readonly settings: Settings;
};

async function main(): Promise<void> {
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const next = await input.next();
    return next.done === true ? "" : next.value;
  };
  const load = await makeLoad(readSettings(await nextLine()));
  answer({ event: "ready", prepared: load.prepared.length });
  for (let line = await nextLine(); line !== ""; line = await nextLine()) {
    const [verb, first, second] = line.split(" ");
    if (verb === "rate") answer(await runRate(load, Number(first), Number(second)));
    else if (verb === "first") answer(await runFirst(load));
    else if (verb === "legitimate") answer(await runLegitimate(load, Number(first), Number(second)));
    else answer({ error: `unknown: ${line}` });
  }
  load.socket.close();
}

async function makeLoad(settings: Settings): Promise<Load> {
  const peers = makePeers(settings);
  const socket = await connectFrom("0.0.0.0", settings);
  return { peers, prepared: prepare(peers, settings.perPeer), socket, settings };
}

async function connectFrom(address: string, settings: Settings): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(0, address);
  await once(socket, "listening");
  socket.connect(settings.port, settings.address);
  await once(socket, "connect");
  // A responder that is not there yet makes the kernel say so; that is no reason to end.
  socket.on("error", () => undefined);
  return socket;
}

/** The IPv4 address so many steps after another. */
function addressAt(first: string, steps: number): string {
  const number = first.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) + steps;
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
}

/** Keeps a number of initiations on the road and replaces each that was answered or has been silent for too long. */
function runRate({ prepared, socket }: Load, seconds: number, window: number): Promise<object> {
  const startedMs = performance.now();
  const waiting = new Map<number, number>();
  let [next, answered, lost] = [0, 0, 0];
  const fill = (): void => {
    while (waiting.size < window && next < prepared.length) {
      const message = prepared[next];
      waiting.set(next, performance.now());
      if (message) socket.send(message);
      next += 1;
    }
  };
  return new Promise((resolve) => {
    const finish = (): void => {
      clearInterval(timer);
      socket.off("message", onMessage);
      resolve({ answered, lost, seconds: (performance.now() - startedMs) / 1_000 });
    };
    const onMessage = (message: Buffer): void => {
      if (message.length !== RESPONSE_BYTES || !waiting.delete(message.readUInt32LE(RECEIVER_AT) - FIRST_INDEX)) return;
      answered += 1;
      fill();
    };
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const [index, sentMs] of waiting) {
        if (nowMs - sentMs < LOST_AFTER_MS) continue;
        waiting.delete(index);
        lost += 1;
      }
      fill();
      if (nowMs - startedMs > seconds * 1_000 || (next === prepared.length && waiting.size === 0)) finish();
    }, 20);
    socket.on("message", onMessage);
    fill();
  });
}

/** A socket of its own: late answers of another responder must not count. */
async function runFirst({ prepared, settings }: Load): Promise<object> {
  const socket = await connectFrom("0.0.0.0", settings);
  const startedMs = performance.now();
  let answeredMs: number | undefined;
  socket.once("message", () => (answeredMs = performance.now()));
  for (const message of prepared) {
    socket.send(message);
    await pause(FIRST_EVERY_MS);
    if (answeredMs !== undefined) break;
  }
  socket.close();
  return { ms: answeredMs === undefined ? null : answeredMs - startedMs };
}

async function runLegitimate(load: Load, seconds: number, count: number): Promise<object> {
  const results = await Promise.all(
    load.peers.slice(0, count).map(async (_, index) => {
      await pause((index * seconds * 1_000) / count);
      return attempt(load, index);
    }),
  );
  const done = results.filter((tries) => tries > 0);
  return { tried: results.length, done: done.length, first: results.filter((tries) => tries === 1).length };
}

/** Tries as a real peer does, every 5 s with the cookie it may have got; returns how many tries it took, 0 = none worked. */
async function attempt({ peers, prepared, settings }: Load, index: number): Promise<number> {
  const peer = peers[index];
  if (!peer) return 0;
  const socket = await connectFrom(addressAt(settings.firstSource, index), settings);
  try {
    return await keepTrying(peer, socket, FIRST_INDEX + prepared.length + index * (TRIES_MAX + 1));
  } finally {
    socket.close();
  }
}

async function keepTrying(peer: LoadInitiator, socket: Socket, firstIndex: number): Promise<number> {
  for (let turn = 1; turn <= TRIES_MAX; turn += 1) {
    const localIndex = firstIndex + turn;
    const sent = peer.initiate(importLoadKey(new Uint8Array(randomBytes(32))), localIndex, Date.now());
    const arrived = untilDone(socket, (reply) => {
      const receiver = reply.length < RECEIVER_AT + 4 ? -1 : receiverOf(reply);
      return receiver === localIndex && peer.take(sent, reply, Date.now()) === "done";
    });
    socket.send(sent.message);
    if (await arrived) return turn;
  }
  return 0;
}

function untilDone(from: Socket, isDone: (reply: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (result: boolean): void => {
      clearTimeout(timer);
      from.off("message", onMessage);
      resolve(result);
    };
    const onMessage = (reply: Buffer): void => {
      if (isDone(reply)) finish(true);
    };
    const timer = setTimeout(() => finish(false), RETRY_MS);
    from.on("message", onMessage);
  });
}

/** Cookie replies carry the receiver right behind the type, responses behind their sender's index. */
function receiverOf(reply: Buffer): number {
  return reply.readUInt32LE(reply.length === RESPONSE_BYTES ? RECEIVER_AT : 4);
}

/** One ephemeral key per peer is enough here: the responder's work is the same, and nobody keeps these sessions. */
function prepare(all: readonly LoadInitiator[], perPeer: number): Uint8Array[] {
  const ephemerals = all.map(() => importLoadKey(new Uint8Array(randomBytes(32))));
  const messages: Uint8Array[] = [];
  for (let turn = 0; turn < perPeer; turn += 1) {
    for (const [index, peer] of all.entries()) {
      const ephemeral = ephemerals[index];
      if (!ephemeral) continue;
      messages.push(peer.initiate(ephemeral, FIRST_INDEX + messages.length, Date.now() + turn).message);
    }
  }
  return messages;
}

function makePeers({ responder, peers: keys }: Settings): LoadInitiator[] {
  const publicKey = publicKeyFromBytes(bytesOf(responder));
  if (!publicKey.ok) throw new Error("the responder's key is not 32 bytes of base64");
  return keys.map((key) => createLoadInitiator(bytesOf(key), publicKey.value));
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

function readSettings(line: string): Settings {
  return JSON.parse(line);
}

function answer(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const RESPONSE_BYTES = 92;
const RECEIVER_AT = 8;
const FIRST_INDEX = 1;
const LOST_AFTER_MS = 200;
const FIRST_EVERY_MS = 5;
const RETRY_MS = 5_000;
const TRIES_MAX = 4;

await main();
