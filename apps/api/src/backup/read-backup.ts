import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { BackupFault, EndSchema, HeaderSchema } from "./backup-format.ts";
import type { BackupEnd, BackupHeader } from "./backup-format.ts";

/** Takes what a backup holds, in order. */
export type BackupReader = {
  readonly header: (header: BackupHeader) => Promise<void>;
  readonly rows: (table: string, rows: readonly string[]) => Promise<void>;
};

/**
 * Reads a backup from its file and checks its shape and its own digest. What was handed on before a fault was found must
 * be thrown away by the caller.
 *
 * @throws BackupFault when it is no backup, is cut short or was changed.
 */
export async function readBackup(
  path: string,
  reader: BackupReader,
): Promise<{ header: BackupHeader; end: BackupEnd }> {
  const file = createReadStream(path);
  const text = file.pipe(createGunzip());
  file.once("error", (error) => text.destroy(error));
  const contents = createContentsReader(reader);
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      await contents.take(line);
    }
  } catch (error) {
    if (error instanceof BackupFault) throw error;
    if (error instanceof Error && "code" in error && /^(Z_|ENOENT|EISDIR|EACCES)/.test(String(error.code))) {
      throw new BackupFault(`the backup cannot be read: ${error.message}`);
    }
    throw error;
  }
  return contents.finish();
}

/** Takes the lines of a backup one by one and hands on what they hold. */
function createContentsReader(reader: BackupReader) {
  const hash = createHash("sha256");
  let header: BackupHeader | undefined;
  let end: BackupEnd | undefined;
  let table: string | undefined;
  let batch: string[] = [];
  let batchBytes = 0;
  const flush = async () => {
    if (table !== undefined && batch.length > 0) await reader.rows(table, batch);
    batch = [];
    batchBytes = 0;
  };
  return {
    async take(line: string): Promise<void> {
      const rest = line.slice(1);
      if (end) throw new BackupFault("the backup goes on behind its end; it was changed");
      if (!line.startsWith("E")) hash.update(line).update("\n");
      if (header === undefined) {
        if (!line.startsWith("H")) throw new BackupFault("the file is no backup of weft");
        header = parse(HeaderSchema, rest);
        await reader.header(header);
      } else if (line.startsWith("T")) {
        await flush();
        if (!header.tables.includes(rest))
          throw new BackupFault(`the backup holds a table ${rest} that it does not announce`);
        table = rest;
      } else if (line.startsWith("R") && table !== undefined) {
        batch.push(rest);
        batchBytes += rest.length;
        if (batch.length >= BATCH_ROWS || batchBytes >= BATCH_BYTES) await flush();
      } else if (line.startsWith("E")) {
        await flush();
        end = parse(EndSchema, rest);
      } else {
        throw new BackupFault("the backup holds a line that means nothing; it was changed, or a newer release made it");
      }
    },
    finish(): { header: BackupHeader; end: BackupEnd } {
      if (!header || !end) throw new BackupFault("the backup ends in the middle; copy it again, or take another one");
      if (end.sha256 !== hash.digest("hex")) throw new BackupFault("the backup was changed: its digest does not fit");
      return { header, end };
    },
  };
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new BackupFault("the backup's header or end cannot be read; it was changed, or a newer release made it");
  }
}

const BATCH_ROWS = 500;
const BATCH_BYTES = 4_000_000;
