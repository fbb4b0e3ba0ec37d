import { insertRows, readRows, shadowTable } from "../db/backup/table-rows.ts";
import type { Executor } from "../db/client.ts";
import { BackupFault } from "./backup-format.ts";
import type { BackupEnd } from "./backup-format.ts";
import { readBackup } from "./read-backup.ts";

/**
 * Proves that a backup can be restored: loads it into tables of the same shape that exist for this transaction only, reads
 * them again and compares. Nothing of it stays.
 *
 * @throws BackupFault when something is missing, changed or does not fit.
 */
export async function checkBackup(db: Executor, path: string): Promise<BackupEnd> {
  const done = new Error("the check is over");
  let proven: BackupEnd | undefined;
  await db
    .transaction(async (tx) => {
      const { end, header } = await readBackup(path, {
        async header({ tables }) {
          for (const table of tables) await shadowTable(tx, table);
        },
        rows: (table, rows) => insertRows(tx, table, rows),
      });
      await compareTables(tx, header.tables, end);
      proven = end;
      throw done;
    })
    .catch((error: unknown) => {
      if (error !== done) throw error;
    });
  if (!proven) throw new Error("the transaction ended without an outcome");
  return proven;
}

/** Reads every table again and compares with what the backup says. */
export async function compareTables(tx: Executor, tables: readonly string[], end: BackupEnd): Promise<void> {
  for (const table of tables) {
    const found = await readRows(tx, table, () => undefined);
    const told = end.tables[table];
    if (found.rows !== told?.rows || found.sha256 !== told.sha256) {
      throw new BackupFault(`table ${table} holds ${found.rows} rows that differ from the backup's ${told?.rows ?? 0}`);
    }
  }
}
