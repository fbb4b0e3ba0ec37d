import { RECORD_BYTES_MAX, TLS_EXPORTER_LABEL } from "@weft/protocol";
import { TLSSocket } from "node:tls";
import { WebSocket, type RawData } from "ws";

import { streamUrl, type ServerAddress } from "../settings/server-url.ts";

/** How a connection ended. */
export type ConnectionEnd =
  | { readonly code: "unreachable"; readonly message: string }
  /** The server answered the upgrade with an HTTP error. */
  | { readonly code: "http"; readonly status: number; readonly retryAfterMs: number; readonly message: string }
  | { readonly code: "closed"; readonly message: string }
  | { readonly code: "bad_frame"; readonly message: string };

export type ConnectionEvents = {
  readonly onMessage: (message: Uint8Array) => void;
  /** Called exactly once; nothing follows. */
  readonly onEnd: (end: ConnectionEnd) => void;
};

/** One WebSocket that carries binary messages. */
export type Connection = {
  readonly send: (message: Uint8Array) => void;
  /** Ends at once; `onEnd` follows. */
  readonly close: (message: string) => void;
  /** Value that ties the stream to its TLS connection; `null` without TLS. */
  readonly channelHash: () => Uint8Array | null;
  /** Own address of the connection; `null` when unknown. */
  readonly localAddress: () => string | null;
  /** Where the server was reached; `null` when unknown. */
  readonly remoteAddress: () => string | null;
};

/** Opens a connection; the port through which tests bring their own. */
export type Connect = (address: ServerAddress, nonce: string, events: ConnectionEvents) => Connection;

/** Opens a real WebSocket. */
export const connectWebSocket: Connect = (address, nonce, events) => {
  const socket = new WebSocket(streamUrl(address, nonce), {
    perMessageDeflate: false,
    maxPayload: RECORD_BYTES_MAX,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    followRedirects: false,
  });
  let ended = false;
  const end = (reason: ConnectionEnd): void => {
    if (ended) return;
    ended = true;
    socket.terminate();
    events.onEnd(reason);
  };
  socket.on("message", (data, isBinary) => {
    if (ended) return;
    const message = isBinary ? bytesOf(data) : null;
    if (!message) return end({ code: "bad_frame", message: "the server sent a text message" });
    events.onMessage(message);
  });
  socket.on("unexpected-response", (_, response) => {
    const status = response.statusCode ?? 0;
    const retryAfterMs = parseRetryAfter(response.headers["retry-after"], Date.now());
    response.resume();
    end({ code: "http", status, retryAfterMs, message: `the server answered with HTTP status ${status}` });
  });
  socket.on("error", (error) => {
    end({ code: "unreachable", message: explain(error) });
  });
  socket.on("close", (code) => {
    end({ code: "closed", message: `the server closed the connection (code ${code})` });
  });
  return {
    send(message) {
      if (!ended && socket.readyState === WebSocket.OPEN) socket.send(message);
    },
    close(message) {
      if (ended) return;
      ended = true;
      // What was sent last (a bye) still goes out; a peer that does not answer is cut off.
      socket.close(1000);
      setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
      events.onEnd({ code: "closed", message });
    },
    channelHash: () => exporterOf(socket),
    localAddress: () => netSocketOf(socket)?.localAddress ?? null,
    remoteAddress: () => netSocketOf(socket)?.remoteAddress ?? null,
  };
};

/** Reads `Retry-After`: seconds or an HTTP date; 0 when absent or unreadable. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}

function bytesOf(data: RawData): Uint8Array | null {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return Array.isArray(data) ? Buffer.concat(data) : null;
}

/** The library keeps the socket in a field that its types do not show. */
function netSocketOf(
  socket: WebSocket,
): { readonly localAddress?: string | undefined; readonly remoteAddress?: string | undefined } | null {
  const inner: unknown = Reflect.get(socket, "_socket");
  if (typeof inner !== "object" || inner === null) return null;
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(inner, name);
    return typeof value === "string" ? value : undefined;
  };
  return { localAddress: text("localAddress"), remoteAddress: text("remoteAddress") };
}

function exporterOf(socket: WebSocket): Uint8Array | null {
  const inner: unknown = Reflect.get(socket, "_socket");
  return inner instanceof TLSSocket ? inner.exportKeyingMaterial(32, TLS_EXPORTER_LABEL, Buffer.alloc(0)) : null;
}

function explain(error: Error): string {
  // A host with several addresses fails with one error per address and an empty text.
  if (error instanceof AggregateError)
    return error.errors.map((inner: unknown) => (inner instanceof Error ? inner.message : "")).join("; ");
  return error.message;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1_000;
