import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { METRICS_MEDIA_TYPE } from "@weft/protocol";

export type MetricsListener = { readonly port: number; readonly dispose: () => Promise<void> };

/**
 * Serves `GET /metrics` on a listener of its own, apart from what browsers and agents reach.
 *
 * @throws Error when the address cannot be bound.
 */
export async function listenForMetrics(
  where: { readonly host: string; readonly port: number },
  source: { readonly text: () => Promise<string>; readonly onError: (error: unknown) => void },
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    void answer(request, response, source).catch((error: unknown) => {
      source.onError(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(where.port, where.host, done);
  });
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound ? bound.port : where.port,
    async dispose() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  source: { readonly text: () => Promise<string> },
): Promise<void> {
  // A page in a browser may reach loopback under a name of its own; it must not read this.
  const isLoopback = /^(127\.|::1$|::ffff:127\.)/.test(request.socket.localAddress ?? "");
  if (isLoopback && !LOOPBACK_NAME.test(request.headers.host ?? "")) {
    response.writeHead(403).end();
  } else if (request.url !== "/metrics") {
    response.writeHead(404).end();
  } else if (request.method !== "GET") {
    response.writeHead(405, { allow: "GET" }).end();
  } else {
    const text = await source.text();
    response.writeHead(200, { "content-type": METRICS_MEDIA_TYPE, "cache-control": "no-store" }).end(text);
  }
}

const LOOPBACK_NAME = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/;
const HEADERS_TIMEOUT_MS = 5_000;
const CONNECTIONS_MAX = 8;
