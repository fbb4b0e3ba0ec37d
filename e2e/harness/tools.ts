import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { repositoryPath } from "./repository.ts";

/** Full path of a program, or `undefined` when it is not installed. */
export function findProgram(name: string): string | undefined {
  if (name.includes("/")) return isExecutable(name) ? name : undefined;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Why tests in namespaces cannot run here, in one sentence, or `undefined` when they can.
 *
 * `programs` are needed beside the ones that every namespace test needs.
 */
export function whyNoNamespaces(programs: readonly string[] = []): string | undefined {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  if (!existsSync("/dev/net/tun")) return "/dev/net/tun does not exist";
  const missing = [...NAMESPACE_PROGRAMS, ...programs].filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
}

/** Why a real server and real agents cannot run here, or `undefined`: the build is missing, or namespaces are. */
export function whyNoMesh(programs: readonly string[] = []): string | undefined {
  const missing = MESH_ARTEFACTS.filter((path) => !existsSync(repositoryPath(path)));
  if (missing.length > 0) return `not built: ${missing.join(", ")} (npm run build)`;
  return whyNoNamespaces(programs);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const NAMESPACE_PROGRAMS = ["ip", "nsenter", "setpriv", "sysctl", "ping"];
const MESH_ARTEFACTS = [
  "apps/api/dist/main.js",
  "apps/agent/bin/weft.js",
  "apps/agent/dist/main.js",
  "apps/agent/release/install.sh",
  "e2e/dist/harness/socket-relay.js",
];
