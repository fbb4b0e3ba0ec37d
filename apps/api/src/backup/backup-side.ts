import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok } from "@weft/protocol";
import type { Result, Secret } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import type { Failure } from "../domain/failure.ts";
import { BackupFault } from "./backup-format.ts";
import { checkBackup } from "./check-backup.ts";
import { writeBackup } from "./write-backup.ts";
import type { WrittenBackup } from "./write-backup.ts";

/** Backup files of this server. */
export type BackupSide = {
  readonly write: (id: string, takenAt: Date) => Promise<Result<WrittenBackup, Failure>>;
  readonly check: (id: string) => Promise<Result<void, Failure>>;
  readonly remove: (id: string) => Promise<void>;
  readonly pathOf: (id: string) => string;
};

export function createBackupSide(deps: {
  readonly db: Executor;
  readonly folder: string;
  readonly version: string;
  readonly privateKey: Secret<string>;
}): BackupSide {
  const { db, folder } = deps;
  let isBusy = false;
  /** One at a time: each reads or writes the whole database. */
  const alone = async <T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> => {
    if (isBusy) return err({ code: "backup_busy" });
    isBusy = true;
    try {
      return await work();
    } catch (error) {
      if (error instanceof BackupFault) return err({ code: "backup_faulty", detail: error.message });
      throw error;
    } finally {
      isBusy = false;
    }
  };
  const pathOf = (id: string) => join(folder, `${id}.weft-backup`);
  return {
    pathOf,
    write: (id, takenAt) =>
      alone(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const { version, privateKey } = deps;
        const facts = { version, takenAt: takenAt.toISOString(), serverPrivateKey: privateKey.expose() };
        return ok(await writeBackup(db, pathOf(id), facts));
      }),
    check: (id) =>
      alone(async () => {
        await checkBackup(db, pathOf(id));
        return ok(undefined);
      }),
    remove: (id) => rm(pathOf(id), { force: true }),
  };
}
