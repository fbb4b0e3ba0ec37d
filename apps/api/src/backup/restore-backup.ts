import { createPublicKey } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RandomBytes } from "@weft/protocol";
import { appliedMigrations } from "../db/backup/applied-migrations.ts";
import { hasRows, insertRows, tablesInOrder } from "../db/backup/table-rows.ts";
import type { Database, Executor } from "../db/client.ts";
import { renewLostHistory } from "../db/database-history.ts";
import { forgetInstance, replaceServerKey } from "../db/instance-repository.ts";
import { migrate, readMigrations } from "../db/migrate.ts";
import { SERVER_KEY_FILE } from "../live/server-identity.ts";
import { BackupFault } from "./backup-format.ts";
import type { BackupEnd, BackupHeader } from "./backup-format.ts";
import { compareTables } from "./check-backup.ts";
import { mapSamples } from "./map-samples.ts";
import { readBackup } from "./read-backup.ts";

export type RestoreReport = {
  readonly version: string;
  readonly takenAt: string;
  readonly tables: BackupEnd["tables"];
  readonly samples: number;
};

/** Where a backup goes. */
export type RestoreTarget = {
  readonly database: Database;
  readonly kind: "embedded" | "external";
  readonly dataFolder: string;
  readonly random: RandomBytes;
};

/**
 * Fills an empty database from a backup and proves it: counts and digests of all tables, the server's key, and a map of
 * each network are compared before anything is committed. Every network starts a new epoch, so that no agent trusts what
 * it heard after the backup was taken.
 *
 * @throws BackupFault when the backup is no good or the database is not empty; then nothing was changed.
 */
export async function restoreBackup(path: string, target: RestoreTarget): Promise<RestoreReport> {
  const { db, sql: plain } = target.database;
  // A first reading finds a broken file before the database is touched.
  const { header } = await readBackup(path, { header: async () => undefined, rows: async () => undefined });
  await refuseUnknownSchema(header);
  await migrate(plain, undefined, { steps: header.migrations.length });
  const end = await db.transaction(async (tx) => {
    await refuseRows(tx);
    await refuseNewerSchema(tx, header);
    await forgetInstance(tx);
    const read = await readBackup(path, {
      header: async () => undefined,
      rows: (table, rows) => insertRows(tx, table, rows),
    });
    await compareTables(tx, header.tables, read.end);
    await compareSamples(tx, header, read.end);
    await keepKey(tx, target, header.serverPrivateKey);
    return read.end;
  });
  await migrate(plain);
  await renewLostHistory(db, target.random);
  return { version: header.version, takenAt: header.takenAt, tables: end.tables, samples: end.samples.length };
}

async function refuseUnknownSchema(header: BackupHeader): Promise<void> {
  const known = await readMigrations();
  for (const [place, step] of header.migrations.entries()) {
    const own = known[place];
    if (own?.tag === step.tag && own.hash === step.hash) continue;
    throw new BackupFault(
      `the backup was taken by weft ${header.version} with migration ${step.tag}, which this release does not have: ` +
        `restore it with that release or a newer one`,
    );
  }
}

async function refuseRows(tx: Executor): Promise<void> {
  for (const table of await tablesInOrder(tx)) {
    if (table === "weft_migrations" || table === "instance") continue;
    if (await hasRows(tx, table)) {
      throw new BackupFault(
        `the database is not empty (table ${table} has rows): restore into a new data folder or a new database`,
      );
    }
  }
}

async function refuseNewerSchema(tx: Executor, header: BackupHeader): Promise<void> {
  const applied = await appliedMigrations(tx);
  if (applied.length === header.migrations.length) return;
  throw new BackupFault(
    "the database has a newer schema than the backup: restore into a database that no server was started on",
  );
}

async function compareSamples(tx: Executor, header: BackupHeader, end: BackupEnd): Promise<void> {
  const found = await mapSamples(tx, header.serverPrivateKey);
  if (JSON.stringify(found) !== JSON.stringify(end.samples)) {
    throw new BackupFault(
      "a network's map differs from the one before the backup; the backup or this release is at fault",
    );
  }
}

/** The key lives where this kind of database keeps it. */
async function keepKey(tx: Executor, target: RestoreTarget, pem: string): Promise<void> {
  createPublicKey(pem);
  if (target.kind === "external") {
    await replaceServerKey(tx, pem);
    return;
  }
  await replaceServerKey(tx, null);
  const file = join(target.dataFolder, SERVER_KEY_FILE);
  await rm(file, { force: true });
  await writeFile(file, pem, { mode: 0o600, flag: "wx" });
}
