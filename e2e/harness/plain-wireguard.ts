import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { argv } from "./argv.ts";
import { eventually } from "./eventually.ts";
import type { Host } from "./namespaces.ts";
import { startProgram, type Program } from "./programs.ts";
import { repositoryPath } from "./repository.ts";
import { mustRun } from "./run-command.ts";
import { findProgram } from "./tools.ts";
import type { WireguardKeys } from "./wireguard-keys.ts";

/** Implementations of plain WireGuard that we talk to and compare with. */
export const PLAIN_KINDS = ["wireguard-go", "wireguard-go-debian", "boringtun"] as const;
export type PlainKind = (typeof PLAIN_KINDS)[number];

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

/** Where the program of a kind is, after building or installing it once where that is possible; or why it is not there. */
export async function providePlainWireguard(kind: PlainKind): Promise<{ path: string } | { reason: string }> {
  switch (kind) {
    case "wireguard-go":
      return provideGoModule();
    case "wireguard-go-debian":
      return provideDebian();
    case "boringtun":
      return provideBoringtun();
  }
}

/** Starts a daemon of the kind, configures it and its interface, and waits until it is up. */
export async function startPlainPeer(kind: PlainKind, options: PlainPeerOptions): Promise<PlainPeer> {
  const provided = await providePlainWireguard(kind);
  if ("reason" in provided) throw new Error(`${kind}: ${provided.reason}`);
  const peer =
    kind === "wireguard-go"
      ? await startGoModule(provided.path, options)
      : await startWithTools(kind, provided.path, options);
  const { host, interfaceName } = options;
  for (const address of options.addresses) {
    const flags = address.includes(":") ? ["nodad"] : [];
    await host.must("ip", ["address", "add", address, "dev", interfaceName, ...flags]);
  }
  await host.must("ip", ["link", "set", interfaceName, "mtu", String(options.mtu), "up"]);
  return peer;
}

async function startGoModule(path: string, options: PlainPeerOptions): Promise<PlainPeer> {
  const program = startProgram({
    name: `wireguard-go in ${options.host.label}`,
    program: path,
    args: ["-tun", options.interfaceName, "-mtu", String(options.mtu)],
    host: options.host,
  });
  program.write(`${goSettings(options).join("\n")}\n\n`);
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

function goSettings(options: PlainPeerOptions): string[] {
  const { peer } = options;
  return [
    `private_key=${options.keys.privateKey.toString("hex")}`,
    `listen_port=${String(options.listenPort)}`,
    `public_key=${peer.publicKey.toString("hex")}`,
    ...(peer.endpoint === undefined ? [] : [`endpoint=${peer.endpoint}`]),
    ...peer.allowedIps.map((prefix) => `allowed_ip=${prefix}`),
    ...(options.extraPeers ?? []).flatMap(({ publicKey, allowedIp }) => [
      `public_key=${publicKey.toString("hex")}`,
      `allowed_ip=${allowedIp}`,
    ]),
  ];
}

async function startWithTools(kind: PlainKind, path: string, options: PlainPeerOptions): Promise<PlainPeer> {
  const { host, interfaceName, peer } = options;
  const program = startProgram({
    name: `${kind} in ${host.label}`,
    program: path,
    args: kind === "boringtun" ? ["-f", "--disable-drop-privileges", interfaceName] : ["-f", interfaceName],
    host,
    env: { WG_PROCESS_FOREGROUND: "1" },
  });
  await eventually(`the control socket of ${program.name}`, { withinMs: START_MS, everyMs: 20 }, () => {
    if (!program.isRunning()) throw new Error(`it ended: ${program.logs()}`);
    return existsSync(`/var/run/wireguard/${interfaceName}.sock`) ? true : undefined;
  });
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
  return {
    program,
    async newestHandshakeAtMs() {
      const shown = await host.must("wg", ["show", interfaceName, "latest-handshakes"]);
      const seconds = Number.parseInt(shown.trim().split(/\s+/).at(-1) ?? "0", 10);
      // This one reports how long ago the handshake was where the others report when.
      return kind === "boringtun" ? Date.now() - seconds * 1_000 : seconds * 1_000;
    },
  };
}

function peerSection({ publicKey, allowedIp }: ExtraPeer): string {
  return `[Peer]\nPublicKey = ${publicKey.toString("base64")}\nAllowedIPs = ${allowedIp}\n`;
}

async function provideGoModule(): Promise<{ path: string } | { reason: string }> {
  const given = process.env["WEFT_BENCH_WIREGUARD_GO"];
  if (given !== undefined)
    return existsSync(given) ? { path: given } : { reason: `WEFT_BENCH_WIREGUARD_GO: no ${given}` };
  const go = findProgram("go") ?? findProgram("/usr/local/go/bin/go");
  if (go === undefined)
    return { reason: "Go is not installed (apt install golang-go, or set WEFT_BENCH_WIREGUARD_GO)" };
  goBuild ??= mustRun(go, ["build", "-o", "bin/wireguard-peer", "."], {
    cwd: repositoryPath("e2e", "interop", "go"),
    timeoutMs: BUILD_MS,
  }).then(
    () => ({ path: repositoryPath("e2e", "interop", "go", "bin", "wireguard-peer") }),
    (error: unknown) => ({ reason: `go build failed: ${String(error)}` }),
  );
  return goBuild;
}

function provideDebian(): { path: string } | { reason: string } {
  const path = process.env["WEFT_BENCH_WIREGUARD_GO_DEBIAN"] ?? findProgram("wireguard-go");
  if (path === undefined) return { reason: "wireguard-go is not installed (apt install wireguard-go)" };
  if (findProgram("wg") === undefined) return { reason: "wg is not installed (apt install wireguard-tools)" };
  return { path };
}

async function provideBoringtun(): Promise<{ path: string } | { reason: string }> {
  if (findProgram("wg") === undefined) return { reason: "wg is not installed (apt install wireguard-tools)" };
  const given = process.env["WEFT_BENCH_BORINGTUN"];
  if (given !== undefined) return existsSync(given) ? { path: given } : { reason: `WEFT_BENCH_BORINGTUN: no ${given}` };
  const installed = findProgram("boringtun-cli");
  if (installed !== undefined) return { path: installed };
  const root = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "weft-bench", "boringtun");
  const path = join(root, "bin", "boringtun-cli");
  if (existsSync(path)) return { path };
  const cargo = findProgram("cargo");
  if (cargo === undefined)
    return { reason: "WEFT_BENCH_BORINGTUN is not set and cargo is not there to install boringtun-cli" };
  boringtunBuild ??= installBoringtun(cargo, root, path);
  return boringtunBuild;
}

async function installBoringtun(
  cargo: string,
  root: string,
  path: string,
): Promise<{ path: string } | { reason: string }> {
  process.stderr.write("installing boringtun-cli once (about a minute)\n");
  try {
    await mustRun(cargo, ["install", "boringtun-cli", "--version", BORINGTUN_VERSION, "--locked", "--root", root], {
      timeoutMs: BUILD_MS,
    });
    return { path };
  } catch (error) {
    return { reason: `cargo install boringtun-cli failed: ${String(error)}` };
  }
}

let goBuild: Promise<{ path: string } | { reason: string }> | undefined;
let boringtunBuild: Promise<{ path: string } | { reason: string }> | undefined;
const BORINGTUN_VERSION = "0.7.1";
const START_MS = 10_000;
const BUILD_MS = 900_000;
