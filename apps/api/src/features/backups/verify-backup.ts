import { err, ok } from "@weft/protocol";
import { findBackup, noteVerified } from "../../db/backups-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { backupView } from "./backup-view.ts";
import type { backupsContract } from "./contract.ts";

/** Proves that a backup can be restored. */
export async function verifyBackup(
  deps: FeatureDeps,
  call: Call,
  { backupId }: InputOf<typeof backupsContract.verify>,
): Outcome<typeof backupsContract.verify> {
  const { db } = deps.database;
  const backup = await findBackup(db, backupId);
  if (!backup) return err({ code: "not_found", what: "backup" });
  const checked = await deps.backups.check(backup.id);
  const at = new Date(deps.clock.nowMs());
  return transact(db, async (tx) => {
    const note = { action: "backups.verify", objectId: backup.id, networkId: null, before: null, at };
    if (!checked.ok) return checked;
    await noteVerified(tx, backup.id, at);
    await recordAudit(tx, call, { ...note, after: { verifiedAt: at.toISOString() } });
    return ok(backupView({ ...backup, verifiedAt: at }));
  });
}
