import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

import { err, ok, type Result } from "@weft/protocol";

import { errorCode } from "./files.ts";

/** Somebody else runs on this state directory. */
export type LockError =
  | { readonly code: "held"; readonly pid: number; readonly message: string }
  | { readonly code: "unusable"; readonly message: string };

export type Lock = { readonly release: () => void };

/**
 * Makes sure that one daemon runs per state directory. The lock is a file that names its holder by process id and
 * start time, so that a holder that died, or whose id was given to another program, does not block anybody.
 */
export function acquireLock(path: string): Result<Lock, LockError> {
  const self = holderText(process.pid);
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, self, { mode: 0o600 });
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (tryLink(draft, path)) return ok({ release: () => releaseLock(path, self) });
      const holder = readHolder(path);
      const pid = Number.parseInt(holder, 10);
      if (holder !== "" && holder === holderText(pid)) {
        return err({
          code: "held",
          pid,
          message: `a weft daemon (process ${pid}) already runs on this state directory`,
        });
      }
      moveAside(path, holder);
    }
    return err({ code: "unusable", message: `the lock ${path} changes hands too fast` });
  } catch (error) {
    return err({
      code: "unusable",
      message: `cannot lock ${path}: ${error instanceof Error ? error.message : "unknown reason"}`,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The running holder's process id; `null` when nobody holds the lock. */
export function lockHolder(path: string): number | null {
  const holder = readHolder(path);
  const pid = Number.parseInt(holder, 10);
  return holder !== "" && holder === holderText(pid) ? pid : null;
}

function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Takes a dead holder's file away; if a living one took its place meanwhile, puts that back. */
function moveAside(path: string, deadHolder: string): void {
  const aside = `${path}.dead-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  if (readHolder(aside) !== deadHolder) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function releaseLock(path: string, self: string): void {
  if (readHolder(path) === self) rmSync(path, { force: true });
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Process id and start time; empty for a process that does not exist. */
function holderText(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return "";
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Fields 3 (state) and 22 (start time) of the line; a zombie holds nothing any more.
    return fields[0] === "Z" ? "" : `${pid} ${fields[19] ?? ""}\n`;
  } catch {
    return "";
  }
}

const ATTEMPTS_MAX = 20;
