import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { interfaceAddresses } from "@weft/dataplane";

/** Why real tunnels cannot be tried here; `null` when they can. */
export function whyNoRealTunnels(): string | null {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root for network namespaces";
  if (!existsSync("/dev/net/tun")) return "needs /dev/net/tun";
  if (!existsSync(BUILT_MAIN)) return "needs a build (npm run build)";
  const addon = interfaceAddresses();
  return addon.ok ? null : addon.error.message;
}

/** Two hosts as network namespaces with one link between them. */
export type TwoHosts = {
  readonly names: readonly [string, string];
  /** Underlay addresses. */
  readonly addresses: readonly [string, string];
  readonly remove: () => void;
};

export function makeTwoHosts(tag: string): TwoHosts {
  const names = [`wt4${tag}-${process.pid}-a`, `wt4${tag}-${process.pid}-b`] as const;
  const addresses = ["192.0.2.1", "192.0.2.2"] as const;
  for (const name of names) ip(["netns", "add", name]);
  ip(["-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1]]);
  names.forEach((name, index) => {
    ip(["-n", name, "addr", "add", `${addresses[index]}/24`, "dev", "eth0"]);
    ip(["-n", name, "link", "set", "eth0", "up"]);
    ip(["-n", name, "link", "set", "lo", "up"]);
  });
  return { names, addresses, remove: () => names.forEach((name) => ip(["netns", "del", name])) };
}

/** Runs `ip` and returns what it prints. */
export function ip(words: readonly string[]): string {
  return execFileSync("ip", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A `weft` process inside a namespace. */
export type WeftProcess = {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
  /** Ended, and all of its output was read. */
  readonly closed: Promise<number | null>;
};

export function startWeft(
  namespace: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): WeftProcess {
  const child = spawn("ip", ["netns", "exec", namespace, process.execPath, BIN, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const exited = new Promise<number | null>((resolve) => void child.on("exit", (code) => resolve(code)));
  const closed = new Promise<number | null>((resolve) => void child.on("close", (code) => resolve(code)));
  return { child, stdout: () => out, stderr: () => err, exited, closed };
}

/** Runs a `weft` command to its end. */
export async function weft(
  namespace: string,
  words: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = startWeft(namespace, words);
  const code = await run.closed;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(PACKAGE, "bin/weft.js");
const BUILT_MAIN = join(PACKAGE, "dist/main.js");
