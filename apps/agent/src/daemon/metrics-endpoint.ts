import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { err, METRICS_MEDIA_TYPE, ok, type Result } from "@weft/protocol";

import { metricsText } from "./metrics-text.ts";
import type { StatusView } from "./status-view.ts";

export type MetricsEndpoint = { readonly port: number; readonly close: () => Promise<void> };

/** Serves `GET /metrics` on loopback, for a Prometheus on the same host. Port 0 = any. */
export function openMetrics(
  port: number,
  status: () => StatusView,
): Promise<Result<MetricsEndpoint, { readonly code: "metrics"; readonly message: string }>> {
  const server = createServer((request, response) => answer(request, response, status));
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve) => {
    server.once("error", (error) =>
      resolve(err({ code: "metrics", message: `metrics cannot be served on port ${port}: ${error.message}` })),
    );
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      const close = (): Promise<void> =>
        new Promise((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve(ok({ port: typeof address === "object" && address !== null ? address.port : port, close }));
    });
  });
}

function answer(request: IncomingMessage, response: ServerResponse, status: () => StatusView): void {
  // A page in a browser may reach loopback under a name of its own; it must not read this.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "")) {
    response.writeHead(403).end();
  } else if (request.url !== "/metrics") {
    response.writeHead(404).end();
  } else if (request.method !== "GET") {
    response.writeHead(405, { allow: "GET" }).end();
  } else {
    response.writeHead(200, { "content-type": METRICS_MEDIA_TYPE }).end(metricsText(status()));
  }
}

const LOOPBACK = "127.0.0.1";
const HEADERS_TIMEOUT_MS = 5_000;
const CONNECTIONS_MAX = 8;
