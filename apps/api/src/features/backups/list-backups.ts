import { listBackups as readBackups } from "../../db/backups-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { backupView } from "./backup-view.ts";
import { backupsSpec } from "./contract.ts";
import type { backupsContract } from "./contract.ts";

/** Lists backups. */
export async function listBackups(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof backupsContract.list>,
): Outcome<typeof backupsContract.list> {
  const read = (request: Parameters<typeof readBackups>[1]) => readBackups(deps.database.db, request);
  return answerList(deps, { spec: backupsSpec, scope: "", input, read, view: backupView });
}
