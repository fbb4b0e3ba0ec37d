import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { cleanUpLater } from "./cleanup.ts";
import type { Host } from "./namespaces.ts";
import type { CommandResult } from "./run-command.ts";

/** What the join line needs on a host beside what every test in namespaces needs. */
export const INSTALL_PROGRAMS: readonly string[] = ["curl", "sha256sum", "tar", "gzip", "mktemp"];

/** A host on which the join line was run, in folders of its own because namespaces share the machine's disk. */
export type InstalledHost = {
  readonly folder: string;
  readonly prefix: string;
  readonly stateDirectory: string;
  /** Runs the installed `weft`. */
  readonly weft: (...words: readonly string[]) => Promise<CommandResult>;
  /** Runs a join line once more on the same host. */
  readonly runLine: (line: string) => Promise<CommandResult>;
};

/** Prepares folders for a host; what is installed into them is taken back at the end. */
export async function prepareHost(host: Host): Promise<InstalledHost> {
  const folder = await mkdtemp(join(tmpdir(), "weft-host-"));
  const prefix = join(folder, "opt", "weft");
  await mkdir(dirname(prefix));
  const stateDirectory = join(folder, "state");
  const program = join(prefix, "bin", "weft");
  const options = `--prefix ${prefix} --state-dir ${stateDirectory} --name ${host.label} --no-service`;
  // A fresh host knows nothing of this machine's Node.js.
  const env = { PATH: "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", NODE_OPTIONS: "", TMPDIR: folder };
  cleanUpLater({
    name: `agent of ${host.label}`,
    run: async () => {
      await host.run("sh", ["-c", `[ ! -x ${program} ] || ${program} down`]);
      await rm(folder, { recursive: true, force: true });
    },
  });
  return {
    folder,
    prefix,
    stateDirectory,
    weft: (...words) => host.run(program, words, { env }),
    runLine: (line) => host.run("sh", ["-c", `${line} ${options}`], { env, timeoutMs: LINE_MS }),
  };
}

/** Runs the very line that the dashboard shows, as root of the host would. */
export async function runJoinLine(host: Host, line: string): Promise<InstalledHost> {
  const installed = await prepareHost(host);
  const outcome = await installed.runLine(line);
  if (outcome.code !== 0) throw new Error(`the join line failed on ${host.label}: ${outcome.stdout}${outcome.stderr}`);
  return installed;
}

const LINE_MS = 90_000;
