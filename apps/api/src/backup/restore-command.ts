import { randomBytes } from "node:crypto";
import type { Config } from "../config.ts";
import { openDatabase } from "../db/open-database.ts";
import { BackupFault } from "./backup-format.ts";
import { restoreBackup } from "./restore-backup.ts";
import type { RestoreReport } from "./restore-backup.ts";

/** `weft-server restore FILE`: fills the empty database that the environment names. Returns the exit code. */
export async function restoreCommand(
  words: readonly string[],
  config: Pick<Config, "dataFolder" | "databaseUrl">,
  say: { readonly line: (text: string) => void; readonly fault: (text: string) => void },
): Promise<number> {
  const [path, ...rest] = words;
  if (path === undefined || rest.length > 0) {
    say.fault("usage: weft-server restore FILE (WEFT_DATA_DIR or DATABASE_URL name the empty server)");
    return 2;
  }
  let report: RestoreReport | undefined;
  try {
    const source = { dataFolder: config.dataFolder, url: config.databaseUrl };
    const opened = await openDatabase(source, {}, async (database, kind) => {
      const random = (length: number) => randomBytes(length);
      report = await restoreBackup(path, { database, kind, dataFolder: config.dataFolder, random });
    });
    await opened.dispose();
  } catch (error) {
    say.fault(error instanceof Error ? error.message : String(error));
    return error instanceof BackupFault ? 3 : 1;
  }
  if (report) say.line(JSON.stringify(report));
  return 0;
}
