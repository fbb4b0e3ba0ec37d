import { backupIds, ok } from "@weft/protocol";
import { insertBackup } from "../../db/backups-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import { backupView } from "./backup-view.ts";
import type { backupsContract } from "./contract.ts";

/** Takes a backup into the server's backup folder. */
export async function createBackup(deps: FeatureDeps, call: Call): Outcome<typeof backupsContract.create> {
  const now = new Date(deps.clock.nowMs());
  const id = backupIds.make(deps.random);
  const written = await deps.backups.write(id, now);
  if (!written.ok) return written;
  const { bytes, sha256, rows } = written.value;
  const createdBy = "userId" in call.actor ? call.actor.userId : null;
  const facts = { version: deps.server.version, bytes, sha256, rowCount: rows };
  const backup = { ...facts, id, verifiedAt: null, createdBy, createdAt: now };
  return transact(deps.database.db, async (tx) => {
    await insertBackup(tx, backup);
    const view = backupView(backup);
    const note = { action: "backups.create", objectId: id, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
    return ok(view);
  });
}
