import { existsSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { repositoryPath } from "./repository.ts";
import { runCommand } from "./run-command.ts";
import { findProgram } from "./tools.ts";

/** The release that is used; another one finds other things. */
const VERSION = "4.32.5";

/** Where the program is, or why it cannot be had here. It is installed once, into a folder that is not in the repository. */
export async function findSchemathesis(): Promise<{ readonly program: string } | { readonly reason: string }> {
  const python = findProgram("python3");
  if (python === undefined) return { reason: "python3 is missing" };
  const cache = repositoryPath("node_modules", ".cache");
  const home = join(cache, `schemathesis-${VERSION}`);
  const program = join(home, "bin", "schemathesis");
  if (existsSync(join(home, "complete"))) return { program };
  await rm(home, { recursive: true, force: true });
  const made = await runCommand(python, ["-m", "venv", home], { timeoutMs: 60_000 });
  if (made.code !== 0) {
    await rm(home, { recursive: true, force: true });
    return { reason: "python3 makes no virtual environment (python3-venv is missing)" };
  }
  const pip = [join(home, "bin", "pip"), ["install", "--quiet", `schemathesis==${VERSION}`]] as const;
  const installed = await runCommand(...pip, { timeoutMs: 120_000 });
  if (installed.code !== 0) {
    await rm(home, { recursive: true, force: true });
    return { reason: `schemathesis ${VERSION} cannot be installed from the package index` };
  }
  // Scripts of the environment name its folder: it is made where it stays, and marked when it is whole.
  const mark = await mkdtemp(join(cache, "mark-"));
  await rename(mark, join(home, "complete"));
  return { program };
}
