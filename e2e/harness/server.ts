import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

import { cleanUpLater } from "./cleanup.ts";
import type { Host } from "./namespaces.ts";
import { startProgram, type Program } from "./programs.ts";
import { builtProgram, repositoryPath } from "./repository.ts";
import { createRestClient, type RestClient } from "./rest-client.ts";

export type ServerOptions = {
  /** Where the database and the Unix socket live; a temporary folder that is removed at the end when absent. */
  readonly folder?: string;
  /** `host:port`; any free port of loopback when absent. */
  readonly listen?: string;
  readonly onLine?: (line: string) => void;
  readonly env?: Readonly<Record<string, string>>;
};

/** A running control plane. */
export type Server = {
  /** How this machine reaches it, whatever its public address is. */
  readonly url: string;
  readonly socketPath: string;
  /** What the first-run page asks for where it is not reached as a local one. */
  readonly setupToken: string;
  readonly program: Program;
  /** Starts it again with the same data, port and socket, after it was stopped or killed. */
  readonly restart: () => Promise<Server>;
  readonly stop: () => Promise<void>;
};

/** A server whose owner was created through the public API. */
export type OwnedNetwork = { readonly client: RestClient; readonly networkId: string; readonly password: string };

/** Starts the built control plane and waits until it says that it listens. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  if (options.folder !== undefined) return listen(options, options.folder);
  const folder = await mkdtemp(join(tmpdir(), "weft-server-"));
  const forget = cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  const server = await listen(options, folder);
  return {
    ...server,
    async stop() {
      await server.stop();
      await forget();
    },
  };
}

/** Creates the owner and the first network the way the first-run page does. */
export async function createOwner(server: Server, password: string, networkName = "lab"): Promise<OwnedNetwork> {
  const client = createRestClient(server.url);
  const answer = await client.post("/setup", {
    login: OWNER_LOGIN,
    password,
    networkName,
    setupToken: server.setupToken,
  });
  const { network } = z.object({ network: z.object({ id: z.string() }) }).parse(answer);
  return { client, networkId: network.id, password };
}

/** Makes a join key of a network for any number of hosts. */
export async function createJoinKey(client: RestClient, networkId: string): Promise<string> {
  const answer = await client.post(`/networks/${networkId}/enrolment-keys`, { usesMax: null, expiresInSeconds: 3_600 });
  return z.object({ key: z.string() }).parse(answer).key;
}

/** Lets the hosts of a namespace reach the server at an address of that namespace. Returns the URL to join with. */
export async function relayInto(host: Host, server: Server, address: string): Promise<string> {
  const relay = startProgram({
    name: `relay in ${host.label}`,
    program: process.execPath,
    args: [builtProgram("harness/socket-relay.js"), address, String(SERVER_PORT), server.socketPath],
    host,
  });
  await relay.waitForLine("ready", 10_000, (line) => (line === "ready" ? true : undefined));
  return `http://${address}:${String(SERVER_PORT)}`;
}

async function listen(options: ServerOptions, folder: string): Promise<Server> {
  const socketPath = join(folder, "api.sock");
  const program = startProgram({
    name: "server",
    program: process.execPath,
    args: [repositoryPath("apps", "api", "dist", "main.js")],
    env: {
      WEFT_LISTEN: options.listen ?? "127.0.0.1:0",
      WEFT_SOCKET: socketPath,
      WEFT_DATA_DIR: join(folder, "data"),
      WEFT_SETUP_TOKEN: SETUP_TOKEN,
      ...options.env,
    },
    ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
  });
  const said = await program.waitForLine("listening", START_MS, (line) => {
    const parsed = Listening.safeParse(parseJson(line));
    return parsed.success ? parsed.data : undefined;
  });
  const url = `http://127.0.0.1:${said.port}`;
  return {
    url,
    socketPath,
    setupToken: SETUP_TOKEN,
    program,
    restart: () => listen({ ...options, listen: `127.0.0.1:${said.port}` }, folder),
    stop: async () => {
      await program.stop();
    },
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const Listening = z.object({
  event: z.literal("listening"),
  port: z.number(),
});
const SETUP_TOKEN = "setup-token-of-the-tests";
const START_MS = 60_000;
const SERVER_PORT = 7_400;
export const OWNER_LOGIN = "owner";
