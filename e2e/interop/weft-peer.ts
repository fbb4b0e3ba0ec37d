import { existsSync } from "node:fs";

import type { PlainPeer, PlainPeerOptions } from "../harness/plain-wireguard.ts";
import { startProgram } from "../harness/programs.ts";
import { builtProgram, repositoryPath } from "../harness/repository.ts";
import { EndpointStateSchema, type EndpointSettings, type EndpointState } from "./endpoint-settings.ts";

/** Why our data plane cannot be started here, or `undefined`. */
export function whyNoDataplane(): string | undefined {
  const missing = ARTEFACTS.filter((path) => !existsSync(repositoryPath(path)));
  return missing.length === 0 ? undefined : `not built: ${missing.join(", ")} (npm run build)`;
}

/** Our data plane as one end of a tunnel, with all that it counts. */
export type WeftPeer = PlainPeer & { readonly state: () => Promise<EndpointState> };
export type WeftPeerOptions = PlainPeerOptions & {
  /** For long runs: shorter time between handshakes. */
  readonly rekeyAfterSeconds?: number;
  /** See `EndpointSettings`. */
  readonly filterRules?: number;
};

/** Starts our data plane as one end of a tunnel, with the same options as a plain peer. */
export async function startWeftPeer(options: WeftPeerOptions): Promise<WeftPeer> {
  const settings: EndpointSettings = {
    interfaceName: options.interfaceName,
    mtu: options.mtu,
    listenPort: options.listenPort,
    privateKey: options.keys.privateKey.toString("base64"),
    addresses: [...options.addresses],
    peerPublicKey: options.peer.publicKey.toString("base64"),
    allowedIps: [...options.peer.allowedIps],
    peerEndpoint: options.peer.endpoint,
    rekeyAfterSeconds: options.rekeyAfterSeconds,
    filterRules: options.filterRules ?? 1,
    disguise: { ...options.disguise },
    extraPeers: (options.extraPeers ?? []).map(({ publicKey, allowedIp }) => ({
      publicKey: publicKey.toString("base64"),
      allowedIp,
    })),
  };
  const program = startProgram({
    name: `weft endpoint in ${options.host.label}`,
    program: process.execPath,
    args: [builtProgram("interop/weft-endpoint.js")],
    host: options.host,
    ...(options.core === undefined ? {} : { core: options.core }),
  });
  program.write(`${JSON.stringify(settings)}\n`);
  await program.waitForLine("ready", 60_000, (line) => (line.includes('"event":"ready"') ? true : undefined));
  let asked = 0;
  const state = async (): Promise<EndpointState> => {
    asked += 1;
    let seen = 0;
    const wanted = asked;
    program.write("state\n");
    return program.waitForLine("state", 60_000, (line) => {
      const parsed = EndpointStateSchema.safeParse(parseJson(line)).data;
      if (parsed === undefined) return undefined;
      seen += 1;
      return seen === wanted ? parsed : undefined;
    });
  };
  return { program, state, newestHandshakeAtMs: async () => (await state()).newestHandshakeAtMs };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const ARTEFACTS = ["packages/dataplane/dist/index.js", "e2e/dist/interop/weft-endpoint.js"];
