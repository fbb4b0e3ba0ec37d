import type { Backup } from "../../db/backups-repository.ts";

/** A backup as callers see it. */
export function backupView({ id, version, bytes, sha256, rowCount, verifiedAt, createdBy, createdAt }: Backup) {
  return {
    id,
    version,
    bytes,
    sha256,
    rows: rowCount,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    createdBy,
    createdAt: createdAt.toISOString(),
  };
}
