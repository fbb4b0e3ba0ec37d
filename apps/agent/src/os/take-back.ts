import { lstatSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { err, ok, type Result } from "@weft/protocol";

import type { StatePaths } from "../settings/paths.ts";
import { errorCode } from "../state/files.ts";
import type { InstallRecord } from "./installation.ts";
import { restoreLeftovers } from "./resolver-guard.ts";
import { removeService } from "./service.systemd.ts";

/** What an uninstallation did with each path. */
export type TakenBack = { readonly removed: readonly string[]; readonly kept: readonly string[] };

type TakeBackError = { readonly code: "failed"; readonly message: string };

/** Removes service, link, state and program, in this order, so that a failure in between can be repeated. */
export async function takeBack(record: InstallRecord, state: StatePaths): Promise<Result<TakenBack, TakeBackError>> {
  const removed: string[] = [];
  const kept: string[] = [];
  if (record.unit !== null) {
    const service = await removeService(record.unit);
    if (!service.ok) return service;
    removed.push(record.unit);
  }
  restoreLeftovers({ backupPath: state.resolverBackup });
  try {
    if (record.link !== null && leadsInto(record.link, record.prefix)) {
      rmSync(record.link);
      removed.push(record.link);
    }
    const left = removeState(state);
    if (left === "removed") removed.push(state.directory);
    if (left === "kept") kept.push(state.directory);
    // The program's own folder; the running process keeps what it has loaded.
    rmSync(record.prefix, { recursive: true, force: true });
    removed.push(record.prefix);
    return ok({ removed, kept });
  } catch (error) {
    return err({ code: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

/** A link that somebody has pointed elsewhere since is no longer ours. */
function leadsInto(link: string, prefix: string): boolean {
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && readlinkSync(link).startsWith(`${prefix}/`);
}

/** Removes our files, and the directory when nothing else is in it: it may be one that others use too. */
function removeState(state: StatePaths): "removed" | "kept" | "absent" {
  const { directory, ...files } = state;
  const names = new Set(Object.values(files));
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const [original = ""] = path.split(/\.(?:new-\d+|dead-\d+|\d+)$/);
      if (names.has(original)) rmSync(path, { force: true });
    }
    rmdirSync(directory);
    return "removed";
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "absent";
    if (errorCode(error) === "ENOTEMPTY") return "kept";
    throw error;
  }
}
