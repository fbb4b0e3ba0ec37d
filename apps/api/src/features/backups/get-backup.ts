import { err, ok } from "@weft/protocol";
import { findBackup } from "../../db/backups-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { backupView } from "./backup-view.ts";
import type { backupsContract } from "./contract.ts";

/** Shows one backup. */
export async function getBackup(
  deps: FeatureDeps,
  _call: Call,
  { backupId }: InputOf<typeof backupsContract.get>,
): Outcome<typeof backupsContract.get> {
  const backup = await findBackup(deps.database.db, backupId);
  return backup ? ok(backupView(backup)) : err({ code: "not_found", what: "backup" });
}
