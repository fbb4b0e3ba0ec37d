import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";

import { err, ok, type Result } from "@weft/protocol";

import { errorCode } from "../state/files.ts";
import { parseLocalRequest, REQUEST_BYTES_MAX, type LocalReply, type LocalRequest } from "./local-protocol.ts";

/** One question being answered. */
type LocalCall = {
  readonly event: (event: unknown) => void;
  /** The asker has gone away. */
  readonly gone: () => boolean;
};

export type LocalHandler = (
  request: LocalRequest,
  call: LocalCall,
) => Promise<Result<unknown, { readonly code: string; readonly message: string }>>;

export type LocalApi = { readonly close: () => Promise<void> };

/**
 * Listens on a Unix socket in the state directory. Who may talk is decided by file permissions: directory 0700, socket
 * 0600, so only the daemon's user (and root) can connect.
 */
export function openLocalApi(
  path: string,
  handle: LocalHandler,
): Promise<Result<LocalApi, { readonly code: "socket"; readonly message: string }>> {
  // The caller holds the lock of the state directory, so a socket that is there belongs to nobody.
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serve(socket, handle);
  });
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve) => {
    server.once("error", (error) =>
      resolve(err({ code: "socket", message: `cannot listen on ${path}: ${error.message}` })),
    );
    const before = process.umask(0o177);
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve(
        ok({
          close: () =>
            new Promise<void>((closed) => {
              server.close(() => closed());
              for (const socket of sockets) socket.end();
              setTimeout(() => sockets.forEach((socket) => socket.destroy()), LINGER_MS).unref();
            }),
        }),
      );
    });
    process.umask(before);
  });
}

/**
 * Whether somebody listens on the socket. The lock tells nothing about a holder in another process namespace, such as a
 * container that shares the state directory; the socket does.
 */
export function somebodyListens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // A full queue has an owner; a socket without one refuses.
    socket.once("error", (error) => resolve(errorCode(error) === "EAGAIN"));
  });
}

/** One request per connection; what comes behind it is ignored. */
function serve(socket: Socket, handle: LocalHandler): void {
  let received = "";
  let phase: "reading" | "answering" = "reading";
  const reply = (message: LocalReply): void => {
    if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
  };
  socket.setEncoding("utf8");
  socket.setTimeout(READ_TIMEOUT_MS, () => {
    if (phase === "reading") socket.destroy();
  });
  socket.on("error", () => socket.destroy());
  socket.on("data", (text: string) => {
    if (phase === "answering") return;
    received += text;
    const newline = received.indexOf("\n");
    if (newline < 0) {
      if (received.length > REQUEST_BYTES_MAX) socket.destroy();
      return;
    }
    phase = "answering";
    socket.setTimeout(0);
    const request = newline > REQUEST_BYTES_MAX ? null : parseLocalRequest(received.slice(0, newline));
    if (!request) {
      reply({
        error: {
          code: "bad_request",
          message: "the daemon does not understand this request; are both of the same version?",
        },
      });
      socket.end();
      return;
    }
    void answer(request, { socket, reply, handle });
  });
}

async function answer(
  request: LocalRequest,
  on: { readonly socket: Socket; readonly reply: (message: LocalReply) => void; readonly handle: LocalHandler },
): Promise<void> {
  try {
    const outcome = await on.handle(request, {
      event: (event) => on.reply({ event }),
      gone: () => on.socket.destroyed,
    });
    on.reply(
      outcome.ok
        ? { result: outcome.value ?? null }
        : { error: { code: outcome.error.code, message: outcome.error.message } },
    );
  } catch (error) {
    on.reply({ error: { code: "internal", message: error instanceof Error ? error.message : "unknown" } });
  }
  on.socket.end();
}

const CONNECTIONS_MAX = 32;
const READ_TIMEOUT_MS = 5_000;
const LINGER_MS = 500;
