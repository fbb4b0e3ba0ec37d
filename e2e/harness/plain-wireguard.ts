import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { argv } from "./argv.ts";
import { eventually } from "./eventually.ts";
import type { Host } from "./namespaces.ts";
import { startProgram, type Program } from "./programs.ts";
import { providePlainWireguard, type PlainKind } from "./provide-plain.ts";
import { callUapi } from "./uapi.ts";
import type { WireguardKeys } from "./wireguard-keys.ts";

export type PlainPeerOptions = {
  readonly host: Host;
  /** Unique on the machine: two of the kinds share one folder of control sockets among all namespaces. */
  readonly interfaceName: string;
  readonly keys: WireguardKeys;
  readonly listenPort: number;
  /** Overlay addresses in CIDR form. */
  readonly addresses: readonly string[];
  readonly mtu: number;
  readonly peer: {
    readonly publicKey: Buffer;
    readonly allowedIps: readonly string[];
    /** Absent: this side only answers. */
    readonly endpoint?: string;
  };
  /** The one core that the daemon may use; all of them when absent. */
  readonly core?: number;
  /** Keys of AmneziaWG, for implementations that know them. */
  readonly disguise?: Readonly<Record<string, string>>;
  /** Peers that are only known, never heard of: for measurements of many. */
  readonly extraPeers?: readonly ExtraPeer[];
};

export type ExtraPeer = { readonly publicKey: Buffer; readonly allowedIp: string };

/** A running plain WireGuard daemon. */
export type PlainPeer = {
  readonly program: Program;
  /** Milliseconds since 1970 of the newest handshake, 0 before the first. */
  readonly newestHandshakeAtMs: () => Promise<number>;
};

/** Starts a daemon of the kind, configures it and its interface, and waits until it is up. */
export async function startPlainPeer(kind: PlainKind, options: PlainPeerOptions): Promise<PlainPeer> {
  const provided = await providePlainWireguard(kind);
  if ("reason" in provided) throw new Error(`${kind}: ${provided.reason}`);
  const peer =
    kind === "wireguard-go" || kind === "amneziawg-peer"
      ? await startGoModule(kind, provided.path, options)
      : await startWithSocket(kind, provided.path, options);
  const { host, interfaceName } = options;
  for (const address of options.addresses) {
    const flags = address.includes(":") ? ["nodad"] : [];
    await host.must("ip", ["address", "add", address, "dev", interfaceName, ...flags]);
  }
  await host.must("ip", ["link", "set", interfaceName, "mtu", String(options.mtu), "up"]);
  return peer;
}

async function startGoModule(kind: PlainKind, path: string, options: PlainPeerOptions): Promise<PlainPeer> {
  const program = startProgram({
    name: `${kind} in ${options.host.label}`,
    program: path,
    args: ["-tun", options.interfaceName, "-mtu", String(options.mtu)],
    host: options.host,
    ...(options.core === undefined ? {} : { core: options.core }),
  });
  program.write(`${uapiSettings(options).join("\n")}\n\n`);
  await program.waitForLine("ready", START_MS, (line) => (line === "ready" ? true : undefined));
  let requests = 0;
  return {
    program,
    async newestHandshakeAtMs() {
      requests += 1;
      let seen = 0;
      program.write("get\n");
      const seconds = await program.waitForLine(`state ${String(requests)}`, START_MS, (line) => {
        const found = /^last_handshake_time_sec=(\d+)$/.exec(line)?.[1];
        if (found === undefined) return undefined;
        seen += 1;
        return seen === requests ? Number.parseInt(found, 10) : undefined;
      });
      return seconds * 1_000;
    },
  };
}

function uapiSettings(options: PlainPeerOptions): string[] {
  const { peer } = options;
  return [
    `private_key=${options.keys.privateKey.toString("hex")}`,
    `listen_port=${String(options.listenPort)}`,
    ...Object.entries(options.disguise ?? {}).map(([key, value]) => `${key}=${value}`),
    `public_key=${peer.publicKey.toString("hex")}`,
    ...(peer.endpoint === undefined ? [] : [`endpoint=${peer.endpoint}`]),
    ...peer.allowedIps.map((prefix) => `allowed_ip=${prefix}`),
    ...(options.extraPeers ?? []).flatMap(({ publicKey, allowedIp }) => [
      `public_key=${publicKey.toString("hex")}`,
      `allowed_ip=${allowedIp}`,
    ]),
  ];
}

/** Starts a daemon that is configured through its control socket: by the tools of WireGuard, or by us where they do not know it. */
async function startWithSocket(kind: PlainKind, path: string, options: PlainPeerOptions): Promise<PlainPeer> {
  const { host, interfaceName } = options;
  const program = startProgram({
    name: `${kind} in ${host.label}`,
    program: path,
    args: [...DAEMON_FLAGS[kind], interfaceName],
    host,
    env: { WG_PROCESS_FOREGROUND: "1" },
    ...(options.core === undefined ? {} : { core: options.core }),
  });
  const socket = await eventually(`the control socket of ${program.name}`, { withinMs: START_MS, everyMs: 20 }, () => {
    if (!program.isRunning()) throw new Error(`it ended: ${program.logs()}`);
    return SOCKET_FOLDERS.map((folder) => join(folder, `${interfaceName}.sock`)).find(existsSync);
  });
  // The file is there a moment before somebody listens behind it.
  await eventually(`an answer of ${program.name}`, { withinMs: START_MS, everyMs: 20 }, () => answers(socket));
  if (kind === "amneziawg-go") await callUapi(socket, ["set=1", ...uapiSettings(options)]);
  else await configureWithTools(options);
  return {
    program,
    async newestHandshakeAtMs() {
      const state = await callUapi(socket, ["get=1"]);
      const seconds = Number.parseInt(/^last_handshake_time_sec=(\d+)$/m.exec(state)?.[1] ?? "0", 10);
      // This one reports how long ago the handshake was where the others report when.
      return kind === "boringtun" ? Date.now() - seconds * 1_000 : seconds * 1_000;
    },
  };
}

async function answers(socket: string): Promise<true | undefined> {
  try {
    await callUapi(socket, ["get=1"]);
    return true;
  } catch {
    return undefined;
  }
}

async function configureWithTools(options: PlainPeerOptions): Promise<void> {
  const { host, interfaceName, peer } = options;
  const endpoint = peer.endpoint === undefined ? [] : ["endpoint", peer.endpoint];
  // The tool opens the key by name, and a pipe of ours cannot be opened so.
  const folder = await mkdtemp(join(tmpdir(), "weft-key-"));
  try {
    const keyFile = join(folder, "key");
    await writeFile(keyFile, `${options.keys.privateKey.toString("base64")}\n`, { mode: 0o600 });
    await host.must("wg", [
      ...argv`set ${interfaceName} private-key ${keyFile} listen-port ${options.listenPort}`,
      ...argv`peer ${peer.publicKey.toString("base64")} allowed-ips ${peer.allowedIps.join(",")}`,
      ...endpoint,
    ]);
    const extraPeers = options.extraPeers ?? [];
    if (extraPeers.length > 0) {
      const file = join(folder, "peers");
      await writeFile(file, extraPeers.map(peerSection).join("\n"));
      await host.must("wg", ["addconf", interfaceName, file]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function peerSection({ publicKey, allowedIp }: ExtraPeer): string {
  return `[Peer]\nPublicKey = ${publicKey.toString("base64")}\nAllowedIPs = ${allowedIp}\n`;
}

const DAEMON_FLAGS: Readonly<Record<PlainKind, readonly string[]>> = {
  "wireguard-go": ["-f"],
  "wireguard-go-debian": ["-f"],
  boringtun: ["-f", "--disable-drop-privileges"],
  gotatun: ["-f", "--disable-drop-privileges", "-v", "error"],
  "amneziawg-go": ["-f"],
  "amneziawg-peer": [],
};
const START_MS = 10_000;
/** Where daemons put their control sockets, whatever their namespace. */
const SOCKET_FOLDERS = ["/var/run/wireguard", "/var/run/amneziawg"];
