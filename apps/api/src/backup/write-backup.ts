import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { appliedMigrations } from "../db/backup/applied-migrations.ts";
import { readRows, tablesInOrder } from "../db/backup/table-rows.ts";
import type { Executor } from "../db/client.ts";
import { BACKUP_FORMAT, LEFT_OUT } from "./backup-format.ts";
import type { BackupEnd, BackupHeader } from "./backup-format.ts";
import { mapSamples } from "./map-samples.ts";

export type WrittenBackup = {
  readonly bytes: number;
  /** SHA-256 of the file. */
  readonly sha256: string;
  readonly rows: number;
};

/**
 * Writes everything of this moment into a new file while the server goes on: one read-only transaction sees one state of
 * the database, and holds up nobody. The file appears under its name when it is whole.
 */
export async function writeBackup(
  db: Executor,
  path: string,
  facts: Pick<BackupHeader, "version" | "takenAt" | "serverPrivateKey">,
): Promise<WrittenBackup> {
  const partial = `${path}.partial`;
  try {
    const sink = openSink(partial);
    const end = await db.transaction((tx) => writeContents(tx, sink.line, facts), {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    });
    const sha256 = await sink.finish();
    await rename(partial, path);
    const rows = Object.values(end.tables).reduce((sum, table) => sum + table.rows, 0);
    return { bytes: (await stat(path)).size, sha256, rows };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeContents(
  tx: Executor,
  line: (text: string) => Promise<void>,
  facts: Pick<BackupHeader, "version" | "takenAt" | "serverPrivateKey">,
): Promise<BackupEnd> {
  const hash = createHash("sha256");
  const put = async (text: string) => {
    hash.update(text).update("\n");
    await line(text);
  };
  const tables = (await tablesInOrder(tx)).filter((table) => !LEFT_OUT.includes(table));
  const migrations = await appliedMigrations(tx);
  const header: BackupHeader = { format: BACKUP_FORMAT, ...facts, migrations, tables: [...tables] };
  await put(`H${JSON.stringify(header)}`);
  const digests: BackupEnd["tables"] = {};
  for (const table of tables) {
    await put(`T${table}`);
    digests[table] = await readRows(tx, table, (row) => put(`R${row}`));
  }
  const samples = [...(await mapSamples(tx, facts.serverPrivateKey))];
  const end = { tables: digests, samples, sha256: hash.digest("hex") };
  await line(`E${JSON.stringify(end)}`);
  return end;
}

/** A compressed file of lines that waits when the disk is slower than the database. */
function openSink(path: string) {
  const gzip = createGzip({ level: 6 });
  const file = createWriteStream(path, { mode: 0o600, flags: "wx" });
  const hash = createHash("sha256");
  gzip.on("data", (chunk: Buffer) => hash.update(chunk));
  gzip.pipe(file);
  // A disk that is full ends the file; the next line must hear of it.
  let failure: Error | undefined;
  const done = finished(file).catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  return {
    async line(text: string): Promise<void> {
      if (failure) throw failure;
      if (!gzip.write(`${text}\n`)) await Promise.race([once(gzip, "drain"), done]);
    },
    async finish(): Promise<string> {
      gzip.end();
      await done;
      if (failure) throw failure;
      return hash.digest("hex");
    },
  };
}
