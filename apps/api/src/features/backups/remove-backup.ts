import { err, ok } from "@weft/protocol";
import { deleteBackup, findBackup } from "../../db/backups-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { backupView } from "./backup-view.ts";
import type { backupsContract } from "./contract.ts";

/** Removes a backup: its row first, so that no row is left without a file. */
export async function removeBackup(
  deps: FeatureDeps,
  call: Call,
  { backupId }: InputOf<typeof backupsContract.remove>,
): Outcome<typeof backupsContract.remove> {
  const removed = await transact(deps.database.db, async (tx) => {
    const before = await findBackup(tx, backupId);
    if (!before || !(await deleteBackup(tx, backupId))) return err({ code: "not_found", what: "backup" } as const);
    const note = { action: "backups.remove", objectId: before.id, networkId: null };
    const at = new Date(deps.clock.nowMs());
    await recordAudit(tx, call, { ...note, before: backupView(before), after: null, at });
    return ok(undefined);
  });
  if (removed.ok) await deps.backups.remove(backupId);
  return removed;
}
