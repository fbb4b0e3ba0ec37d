import type { HandlersOf } from "../../registry/handler.ts";
import type { backupsContract } from "./contract.ts";
import { createBackup } from "./create-backup.ts";
import { downloadBackup } from "./download-backup.ts";
import { getBackup } from "./get-backup.ts";
import { listBackups } from "./list-backups.ts";
import { removeBackup } from "./remove-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

export const backupsOperations: HandlersOf<typeof backupsContract> = {
  list: listBackups,
  get: getBackup,
  create: createBackup,
  verify: verifyBackup,
  download: downloadBackup,
  remove: removeBackup,
};
