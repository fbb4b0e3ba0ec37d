import { mkdir } from "node:fs/promises";
import type { Secret } from "@weft/protocol";
import { connectDatabase } from "./client.ts";
import type { Database, DatabaseAddress, DatabaseOptions } from "./client.ts";
import { lockFolder } from "./embedded/folder-lock.ts";
import { startEmbeddedDatabase } from "./embedded/embedded-database.ts";
import { migrate } from "./migrate.ts";

export type OpenDatabase = Database & {
  readonly kind: "embedded" | "external";
  /** Resolves when an embedded server ended on its own; never for an external one. */
  readonly lost: Promise<void>;
};

/**
 * Takes the data folder, starts or reaches the database, and brings its schema up to date.
 *
 * @throws Error with a sentence for people when the folder is taken or the database cannot be used.
 */
export async function openDatabase(
  source: { readonly dataFolder: string; readonly url: Secret<string> | undefined },
  options: DatabaseOptions = {},
  prepare: (database: Database, kind: OpenDatabase["kind"]) => Promise<unknown> = ({ sql }) => migrate(sql),
): Promise<OpenDatabase> {
  await mkdir(source.dataFolder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(source.dataFolder);
  if (!lock) throw new Error(`another weft server uses ${source.dataFolder}; stop it, or choose another WEFT_DATA_DIR`);
  const steps: (() => Promise<void>)[] = [lock.release];
  const dispose = async () => {
    for (const step of steps.splice(0).toReversed()) await step();
  };
  try {
    let address: DatabaseAddress;
    let lost = new Promise<void>(() => undefined);
    if (source.url) {
      address = { kind: "external", url: source.url };
    } else {
      const embedded = await startEmbeddedDatabase(source.dataFolder);
      steps.push(embedded.dispose);
      lost = embedded.ended;
      address = { kind: "embedded", ...embedded.connection, database: "postgres" };
    }
    const database = connectDatabase(address, options);
    steps.push(database.dispose);
    await prepare(database, address.kind);
    return { ...database, kind: address.kind, lost, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
