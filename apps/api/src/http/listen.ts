import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { FastifyInstance } from "fastify";

/** Where the server can be reached. */
export type Listening = { readonly port: number; readonly url: string; readonly dispose: () => Promise<void> };

/** Listens on TCP, and on a Unix socket with the same routes where one is wished. */
export async function listen(
  server: FastifyInstance,
  where: { readonly host: string; readonly port: number; readonly socketPath: string | undefined },
): Promise<Listening> {
  await server.listen({ host: where.host, port: where.port });
  const bound = server.server.address();
  const port = typeof bound === "object" && bound ? bound.port : where.port;
  const isAnywhere = where.host === "0.0.0.0" || where.host === "::";
  const host = isAnywhere ? "localhost" : where.host.includes(":") ? `[${where.host}]` : where.host;
  const closeSocket = where.socketPath === undefined ? undefined : await listenOnSocket(server, where.socketPath);
  return { port, url: `http://${host}:${port}`, dispose: async () => closeSocket?.() };
}

async function listenOnSocket(server: FastifyInstance, path: string): Promise<() => Promise<void>> {
  await rm(path, { force: true });
  const local = createServer((request, response) => server.routing(request, response));
  // Upgrades go through the same handlers as on the main listener.
  local.on("upgrade", (...parts) => server.server.emit("upgrade", ...parts));
  await new Promise<void>((done, fail) => {
    local.once("error", fail);
    local.listen(path, done);
  });
  return async () => {
    local.close();
    local.closeAllConnections();
    await rm(path, { force: true });
  };
}
