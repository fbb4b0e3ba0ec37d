import { err, ok } from "@weft/protocol";
import { findBackup } from "../../db/backups-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { backupsContract } from "./contract.ts";

/** Hands out the file of a backup; that is noted, because everything is in it. */
export async function downloadBackup(
  deps: FeatureDeps,
  call: Call,
  { backupId }: InputOf<typeof backupsContract.download>,
): Outcome<typeof backupsContract.download> {
  const { db } = deps.database;
  const backup = await findBackup(db, backupId);
  if (!backup) return err({ code: "not_found", what: "backup" });
  const at = new Date(deps.clock.nowMs());
  const note = { action: "backups.download", objectId: backup.id, networkId: null, before: null, after: null };
  await recordAudit(db, call, { ...note, at });
  return ok({ path: deps.backups.pathOf(backup.id), fileName: `${backup.id}.weft-backup`, bytes: backup.bytes });
}
