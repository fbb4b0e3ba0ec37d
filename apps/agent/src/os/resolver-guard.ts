import { spawn } from "node:child_process";
import { dirname, join } from "node:path";

import { lockHolder } from "../state/lock.ts";
import { createSwappedFile } from "./swapped-file.ts";

/** A process that restores the resolver file when the agent ends in a way that leaves it no time, such as SIGKILL. */
export type Guard = { readonly disarm: () => void };

type Places = { readonly path: string; readonly backupPath: string };

/**
 * Starts the guard: a shell that waits until its input ends. The kernel ends it when the agent is gone, whatever ended that; then
 * the shell becomes this very program with nothing to do but to restore.
 */
export function armGuard(program: string, { path, backupPath }: Places): Guard {
  const restore = [process.execPath, program, RESTORE_VERB, backupPath, path];
  const child = spawn("/bin/sh", ["-c", GUARD, "weft-guard", ...restore], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a guard the file still names the servers from before, and the next start restores it.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  child.unref();
  return { disarm: () => void child.stdin.end("done\n") };
}

/** Undoes what a run left behind that could not do it itself; nothing while an agent runs. */
export function restoreLeftovers({
  backupPath,
  path = RESOLV_CONF,
}: Partial<Places> & Pick<Places, "backupPath">): void {
  if (lockHolder(join(dirname(backupPath), "daemon.lock")) !== null) return;
  createSwappedFile({ path, backupPath }).restore();
}

/** First word of the command line that restores; not for people. */
export const RESTORE_VERB = "restore-names";
export const RESOLV_CONF = "/etc/resolv.conf";

/** Waits for a word; the end without one means that the agent is gone. Signals to the whole service do not end it. */
const GUARD = 'trap "" TERM INT HUP; if read -r word && [ "$word" = done ]; then exit 0; fi; exec "$@"';
