import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

import { cleanUpLater } from "./cleanup.ts";
import { repositoryPath } from "./repository.ts";
import type { RestClient } from "./rest-client.ts";
import { runCommand, type CommandOptions, type CommandResult } from "./run-command.ts";

/** The built `weft` command with a token for everything, and a folder to work in. */
export type AdminCli = {
  readonly folder: string;
  readonly token: string;
  /** What the shell has to know. */
  readonly env: Readonly<Record<string, string>>;
  /** `weft admin WORDS…`. */
  readonly run: (words: readonly string[], options?: CommandOptions) => Promise<CommandResult>;
};

/** Makes a token of the owner, and a `weft` on the PATH of the returned environment. */
export async function adminCli(serverUrl: string, owner: RestClient): Promise<AdminCli> {
  const answer = await owner.post("/tokens", { name: "automation", scopes: SCOPES });
  return adminCliWith(serverUrl, z.object({ token: z.string() }).parse(answer).token);
}

export async function adminCliWith(serverUrl: string, token: string): Promise<AdminCli> {
  const folder = await mkdtemp(join(tmpdir(), "weft-admin-"));
  cleanUpLater({ name: folder, run: () => rm(folder, { recursive: true, force: true }) });
  const program = repositoryPath("apps", "agent", "bin", "weft.js");
  const shim = join(folder, "bin", "weft");
  await mkdir(join(folder, "bin"));
  await writeFile(shim, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(shim, 0o755);
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  const env = {
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    WEFT_SERVER: serverUrl,
    WEFT_TOKEN_FILE: tokenFile,
    TOKEN: token,
  };
  return {
    folder,
    token,
    env,
    run: (words, options = {}) =>
      runCommand(process.execPath, [program, "admin", ...words], {
        cwd: folder,
        ...options,
        env: { ...env, ...options.env },
      }),
  };
}

const SCOPES =
  "networks peers keys policies routes dns profiles users tokens webhooks audit flows metrics jobs settings backups"
    .split(" ")
    .map((resource) => `${resource}:write`);
