import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of a file or folder of this repository, whether this module runs from source or from `dist`. */
export function repositoryPath(...parts: readonly string[]): string {
  return join(ROOT, ...parts);
}

/** Absolute path of a compiled program of this package, such as `harness/socket-relay.js`. */
export function builtProgram(relative: string): string {
  const path = repositoryPath("e2e", "dist", relative);
  if (!existsSync(path)) throw new Error(`${path} is missing: run "npm run build" first`);
  return path;
}

const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "pnpm-workspace.yaml"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no pnpm-workspace.yaml above ${start}: cannot find the repository`);
    folder = parent;
  }
  return folder;
}
