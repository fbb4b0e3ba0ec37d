import { createSocket, type Socket } from "node:dgram";
import { createServer, type Server, type Socket as Connection } from "node:net";

import { err, ok, type Result } from "@weft/protocol";

import { errorCode } from "../state/files.ts";
import { fitDatagram } from "./dns-message.ts";
import { framed } from "./forwarder.ts";
import type { Resolver } from "./resolver.ts";

/** A resolver on one address, UDP and TCP. */
export type ResolverServer = { readonly port: number; readonly close: () => Promise<void> };

export type ServerDeps = {
  readonly resolver: Resolver;
  /** Who is answered; everybody else hears nothing. */
  readonly mayAsk: (address: string) => boolean;
};

export type ServerError = { readonly code: string; readonly message: string };

/** Listens on both transports of an address, or on none. */
export async function openResolver(
  deps: ServerDeps,
  at: { readonly address: string; readonly port: number },
): Promise<Result<ResolverServer, ServerError>> {
  const udp = await listenUdp(deps, at);
  if (!udp.ok) return udp;
  const { port } = udp.value.address();
  const tcp = await listenTcp(deps, { address: at.address, port });
  if (!tcp.ok) {
    udp.value.close();
    return tcp;
  }
  return ok({
    port,
    async close() {
      udp.value.close();
      await tcp.value.close();
    },
  });
}

function listenUdp(
  { resolver, mayAsk }: ServerDeps,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<Result<Socket, ServerError>> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: address.includes(":") ? "udp6" : "udp4" });
    socket.once("error", (error) => {
      socket.close();
      resolve(err(listenError(error, address)));
    });
    socket.on("message", (message, from) => {
      if (!mayAsk(from.address)) return;
      void answerDatagram(resolver, message, (answer) => {
        // The socket may have been closed in the meantime.
        socket.send(answer, from.port, from.address, () => {});
      }).catch(ignore);
    });
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {});
      resolve(ok(socket));
    });
  });
}

async function answerDatagram(resolver: Resolver, message: Buffer, send: (answer: Buffer) => void): Promise<void> {
  const found = await resolver.answer(message);
  if (found) send(found.query ? fitDatagram(found.answer, found.query) : found.answer);
}

async function listenTcp(
  { resolver, mayAsk }: ServerDeps,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<Result<{ readonly close: () => Promise<void> }, ServerError>> {
  const open = new Set<Connection>();
  const server = createServer((connection) => {
    if (open.size >= CONNECTIONS_MAX || !mayAsk(connection.remoteAddress ?? "")) return void connection.destroy();
    open.add(connection);
    connection.setTimeout(IDLE_MS, () => connection.destroy());
    connection.on("error", () => connection.destroy());
    connection.on("close", () => open.delete(connection));
    void serve(connection, resolver).catch(() => connection.destroy());
  });
  const listening = await listen(server, address, port);
  if (!listening.ok) return listening;
  return ok({
    close: () =>
      new Promise((resolve) => {
        for (const connection of open) connection.destroy();
        server.close(() => resolve());
      }),
  });
}

function listen(server: Server, address: string, port: number): Promise<Result<undefined, ServerError>> {
  return new Promise((resolve) => {
    server.once("error", (error) => resolve(err(listenError(error, address))));
    server.listen({ host: address, port, exclusive: true }, () => {
      server.on("error", () => {});
      resolve(ok(undefined));
    });
  });
}

/** Answers the questions of a connection one after the other. */
async function serve(connection: Connection, resolver: Resolver): Promise<void> {
  let received = Buffer.alloc(0);
  for await (const chunk of connection) {
    if (!Buffer.isBuffer(chunk)) return;
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      const found = await resolver.answer(received.subarray(2, end));
      received = received.subarray(end);
      if (!found) return void connection.destroy();
      connection.write(framed(found.answer));
    }
  }
}

function listenError(error: Error, address: string): ServerError {
  const code = errorCode(error);
  const reason =
    code === "EADDRINUSE"
      ? "another program answers names on this address; stop it, or set WEFT_DNS=off"
      : code === "EACCES"
        ? "port 53 needs CAP_NET_BIND_SERVICE"
        : error.message;
  return { code, message: `cannot listen on ${address}, port 53: ${reason}` };
}

function ignore(): void {
  // A question that could not be answered is asked again by whoever needs it.
}

const CONNECTIONS_MAX = 64;
const IDLE_MS = 10_000;
