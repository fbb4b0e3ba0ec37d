import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

import { argv } from "./argv.ts";
import { cleanUpLater } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import type { Host } from "./namespaces.ts";
import { startProgram, type Program } from "./programs.ts";
import { repositoryPath } from "./repository.ts";
import type { RestClient } from "./rest-client.ts";
import type { CommandResult } from "./run-command.ts";

export type JoinOptions = {
  readonly host: Host;
  readonly name: string;
  readonly serverUrl: string;
  readonly key: string;
  readonly client: RestClient;
  readonly networkId: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Parent of the state folder; the system's temporary folder when absent. */
  readonly stateParent?: string;
  readonly onLine?: (line: string) => void;
};

/** A joined host whose daemon runs in the foreground under our control. */
export type Agent = {
  readonly name: string;
  readonly host: Host;
  readonly peerId: string;
  readonly interfaceName: string;
  readonly ipv4: string;
  readonly ipv6: string;
  readonly stateFolder: string;
  readonly program: Program;
  /** Runs a verb of the command line against this daemon. */
  readonly weft: (...args: readonly string[]) => Promise<CommandResult>;
  /** Starts the daemon again from its state, after it was stopped or killed; with other settings, when there are any. */
  readonly up: (env?: Readonly<Record<string, string>>) => Promise<Agent>;
};

/** A row of the peer list, as far as tests look at it. */
export type PeerRow = z.infer<typeof PeerRowSchema>;

/** Joins a host through the real command and waits until its addresses are known and its map is applied. */
export async function joinHost(options: JoinOptions): Promise<Agent> {
  const stateFolder = await mkdtemp(join(options.stateParent ?? tmpdir(), "weft-agent-"));
  cleanUpLater({ name: stateFolder, run: () => rm(stateFolder, { recursive: true, force: true }) });
  const args = argv`join ${options.serverUrl} ${options.key} --foreground --name ${options.name}
    --state-dir ${stateFolder} --interface ${INTERFACE_NAME} --port ${TUNNEL_PORT}`;
  const program = startDaemon(options, args);
  const row = await eventually(`${options.name} online with its map applied`, { withinMs: JOIN_MS }, async () => {
    if (!program.isRunning()) throw new Error(`the agent ended:\n${program.logs().slice(-2_000)}`);
    const rows = await listPeers(options.client, options.networkId);
    return rows.find(
      ({ name, presence, map }) => name === options.name && presence === "online" && map.state === "applied",
    );
  });
  if (row.ipv4 === null || row.ipv6 === null) throw new Error(`${options.name} got no address of both families`);
  return describe(options, program, { peerId: row.id, ipv4: bare(row.ipv4), ipv6: bare(row.ipv6), stateFolder });
}

/** Every peer of a network. */
export async function listPeers(client: RestClient, networkId: string): Promise<PeerRow[]> {
  const page = await client.get(`/networks/${networkId}/peers?limit=100`);
  return z.object({ items: z.array(PeerRowSchema) }).parse(page).items;
}

type Joined = Pick<Agent, "peerId" | "ipv4" | "ipv6" | "stateFolder">;

function describe(options: JoinOptions, program: Program, joined: Joined): Agent {
  const { host, name } = options;
  return {
    ...joined,
    name,
    host,
    interfaceName: INTERFACE_NAME,
    program,
    weft: (...args) => host.run(process.execPath, [WEFT, ...args, "--state-dir", joined.stateFolder]),
    async up(env = options.env) {
      const again = env === undefined ? options : { ...options, env };
      const next = startDaemon(again, ["up", "--foreground", "--state-dir", joined.stateFolder]);
      await next.waitForLine("ready", JOIN_MS, (line) => (line.includes('"event":"ready"') ? true : undefined));
      return describe(again, next, joined);
    },
  };
}

function startDaemon(options: JoinOptions, args: readonly string[]): Program {
  return startProgram({
    name: `agent ${options.name}`,
    program: process.execPath,
    args: [WEFT, ...args],
    host: options.host,
    // Names are what one scenario is about; the others leave resolver files alone.
    env: { WEFT_DNS: "off", ...options.env },
    ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
  });
}

function bare(address: string): string {
  return address.split("/")[0] ?? address;
}

const PeerRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  ipv4: z.string().nullable(),
  ipv6: z.string().nullable(),
  presence: z.enum(["online", "offline", "unknown"]),
  map: z.object({ state: z.string() }),
  rxBytes: z.string(),
  txBytes: z.string(),
});
const WEFT = repositoryPath("apps", "agent", "bin", "weft.js");
const INTERFACE_NAME = "weft0";
const TUNNEL_PORT = 51_820;
const JOIN_MS = 30_000;
