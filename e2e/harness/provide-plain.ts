import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { repositoryPath } from "./repository.ts";
import { mustRun } from "./run-command.ts";
import { findProgram } from "./tools.ts";

/** Where a program is, or why it is not there. */
export type Provided = { readonly path: string } | { readonly reason: string };

/** Implementations of plain WireGuard that we must interoperate with. */
export const INTEROP_KINDS = ["wireguard-go", "wireguard-go-debian", "boringtun"] as const;
/** Implementations of plain WireGuard that we compare with. */
export const PLAIN_KINDS = [...INTEROP_KINDS, "gotatun", "amneziawg-go"] as const;
/** Implementations that disguise what they send, beside the one that can be given. */
export type ConcealKind = "amneziawg-peer";
export type PlainKind = (typeof PLAIN_KINDS)[number] | ConcealKind;

/** Finds the program of a kind; builds or installs it once where that is possible. `WEFT_BENCH_<NAME>` names another one. */
export async function providePlainWireguard(kind: PlainKind): Promise<Provided> {
  const variable = `WEFT_BENCH_${kind.toUpperCase().replaceAll("-", "_")}`;
  const given = process.env[variable];
  if (!WITHOUT_TOOLS.has(kind) && findProgram("wg") === undefined)
    return { reason: "wg is not installed (apt install wireguard-tools)" };
  if (given !== undefined) return existsSync(given) ? { path: given } : { reason: `${variable}: no ${given}` };
  switch (kind) {
    case "wireguard-go":
      return buildGoProgram("wireguard-peer");
    case "amneziawg-peer":
      return buildGoProgram("amneziawg-peer");
    case "wireguard-go-debian":
      return installed("wireguard-go", "wireguard-go is not installed (apt install wireguard-go)");
    case "boringtun":
      return provideCrate({ crate: "boringtun-cli", version: "0.7.1", program: "boringtun-cli" });
    case "gotatun":
      return provideCrate({ crate: "gotatun-cli", version: "0.10.2", program: "gotatun" });
    case "amneziawg-go":
      return installed("amneziawg-go", "amneziawg-go is not installed; set WEFT_BENCH_AMNEZIAWG_GO to its program");
  }
}

/** Builds a program of `e2e/interop/go` once per run; Go's own cache makes an unchanged one quick. */
export async function buildGoProgram(name: "wireguard-peer" | "amneziawg-peer" | "handshake-load"): Promise<Provided> {
  const go = findProgram("go") ?? findProgram("/usr/local/go/bin/go");
  if (go === undefined)
    return { reason: "Go is not installed (apt install golang-go, or set WEFT_BENCH_WIREGUARD_GO)" };
  const started = builds.get(name) ?? compileGo(go, name);
  builds.set(name, started);
  return started;
}

/** A crate that brings a program. */
export type ProgramCrate = { readonly crate: string; readonly version: string; readonly program: string };

/** Finds a program of a crate, and installs it once into the user's cache when it is nowhere. */
export async function provideCrate(wanted: ProgramCrate): Promise<Provided> {
  const found = findProgram(wanted.program);
  if (found !== undefined) return { path: found };
  const root = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "weft-bench", wanted.crate);
  const path = join(root, "bin", wanted.program);
  if (existsSync(path)) return { path };
  const cargo = findProgram("cargo");
  if (cargo === undefined) return { reason: `cargo is not there to install ${wanted.crate}` };
  const started = builds.get(wanted.crate) ?? installCrate(cargo, wanted, root);
  builds.set(wanted.crate, started);
  return started;
}

async function compileGo(go: string, name: string): Promise<Provided> {
  const folder = repositoryPath("e2e", "interop", "go");
  const path = join(folder, "bin", name);
  try {
    // Some of them are modules of their own.
    await mustRun(go, ["build", "-o", path, "."], { cwd: join(folder, name), timeoutMs: BUILD_MS });
    return { path };
  } catch (error) {
    return { reason: `go build of ${name} failed: ${String(error)}` };
  }
}

async function installCrate(cargo: string, wanted: ProgramCrate, root: string): Promise<Provided> {
  const { crate, version, program } = wanted;
  process.stderr.write(`installing ${crate} once (takes minutes)\n`);
  try {
    const args = ["install", crate, "--version", version, "--locked", "--root", root];
    await mustRun(cargo, args, { timeoutMs: BUILD_MS });
    return { path: join(root, "bin", program) };
  } catch (error) {
    return { reason: `cargo install ${crate} failed: ${String(error).slice(-300)}` };
  }
}

function installed(name: string, otherwise: string): Provided {
  const path = findProgram(name);
  return path === undefined ? { reason: otherwise } : { path };
}

/** Kinds that are configured without the tools of WireGuard. */
const WITHOUT_TOOLS: ReadonlySet<PlainKind> = new Set(["wireguard-go", "amneziawg-go", "amneziawg-peer"]);
const builds = new Map<string, Promise<Provided>>();
const BUILD_MS = 900_000;
