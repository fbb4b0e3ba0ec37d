import { createSocket } from "node:dgram";
import { connect } from "node:net";

import { endpointParts, type Endpoint } from "@weft/protocol";

import type { AnswerCache } from "./answer-cache.ts";
import { answersQuestion, isTruncated, rcodeOf, RCODES, type DnsQuery } from "./dns-message.ts";

/** Asks other servers. */
export type Forwarder = {
  /** The answer of the first server that has one; `null` when none has, or too much is asked at once. */
  readonly ask: (query: DnsQuery, servers: readonly Endpoint[]) => Promise<Buffer | null>;
};

export type ForwarderDeps = {
  readonly cache: AnswerCache;
  readonly randomId: () => number;
  /** How long one server may take; all together get twice that. */
  readonly serverTimeoutMs?: number;
};

export function createForwarder({ cache, randomId, serverTimeoutMs = SERVER_TIMEOUT_MS }: ForwarderDeps): Forwarder {
  const running = new Map<string, Promise<Buffer | null>>();
  const askAll = async (query: DnsQuery, servers: readonly Endpoint[]): Promise<Buffer | null> => {
    const deadline = performance.now() + 2 * serverTimeoutMs;
    let refusal: Buffer | null = null;
    for (const server of servers.slice(0, SERVERS_MAX)) {
      const leftMs = Math.min(serverTimeoutMs, deadline - performance.now());
      if (leftMs <= 0) break;
      const answer = await askOne(query, server, { id: randomId(), timeoutMs: leftMs });
      if (answer && !GIVES_UP.has(rcodeOf(answer))) {
        cache.put(query, answer);
        return answer;
      }
      refusal = answer ?? refusal;
    }
    return refusal;
  };
  return {
    async ask(query, servers) {
      const known = cache.get(query);
      if (known) return known;
      const key = `${query.key}|${servers.join()}`;
      const begun = running.get(key);
      if (!begun && running.size >= RUNNING_MAX) return null;
      const asking = begun ?? askAll(query, servers).finally(() => running.delete(key));
      if (!begun) running.set(key, asking);
      const answer = await asking;
      if (!answer) return null;
      const own = Buffer.from(answer);
      own.writeUInt16BE(query.id, 0);
      query.bytes.copy(own, 12, 12, query.questionEnd);
      return own;
    },
  };
}

type Attempt = { readonly id: number; readonly timeoutMs: number };

async function askOne(query: DnsQuery, server: Endpoint, attempt: Attempt): Promise<Buffer | null> {
  const answer = await overUdp(query, server, attempt);
  if (!answer || !isTruncated(answer)) return answer;
  return (await overTcp(query, server, attempt)) ?? answer;
}

/** A socket of its own per question: its random port is half of what a forger would have to guess. */
function overUdp(query: DnsQuery, server: Endpoint, { id, timeoutMs }: Attempt): Promise<Buffer | null> {
  const { address, port } = endpointParts(server);
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    const settle = (answer: Buffer | null): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on("error", () => {});
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(null), timeoutMs);
    socket.on("error", () => settle(null));
    socket.on("message", (message) => {
      if (answersQuestion(message, query, id)) settle(message);
    });
    socket.connect(port, address, () => socket.send(withId(query, id)));
  });
}

function overTcp(query: DnsQuery, server: Endpoint, { id, timeoutMs }: Attempt): Promise<Buffer | null> {
  const { address, port } = endpointParts(server);
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    let received = Buffer.alloc(0);
    const settle = (answer: Buffer | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(null), timeoutMs);
    socket.on("error", () => settle(null));
    socket.on("close", () => settle(null));
    socket.on("connect", () => socket.write(framed(withId(query, id))));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const message = received.subarray(2, 2 + received.readUInt16BE(0));
      settle(answersQuestion(message, query, id) ? message : null);
    });
  });
}

/** A message with its length before it, as TCP wants it. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
}

function withId({ bytes }: DnsQuery, id: number): Buffer {
  const message = Buffer.from(bytes);
  message.writeUInt16BE(id, 0);
  return message;
}

/** Codes after which the next server is asked. */
const GIVES_UP: ReadonlySet<number> = new Set([RCODES.SERVFAIL, RCODES.REFUSED, RCODES.NOTIMP, RCODES.FORMERR]);
const SERVER_TIMEOUT_MS = 2_000;
const SERVERS_MAX = 16;
/** Questions on the way at once. */
const RUNNING_MAX = 256;
