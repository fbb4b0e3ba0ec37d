import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";
import { canEnter, chooseAccount } from "./account.ts";
import { provideBinaries } from "./binaries.ts";
import { CLUSTER, DATABASE_USER, makeOwnFolder, SOCKET_NAME, startPostmaster } from "./postmaster.ts";

/** An embedded database server and how to reach it. */
export type EmbeddedDatabase = {
  readonly connection: { readonly socketFolder: string; readonly user: string; readonly password: string };
  /** Resolves when the server ended, asked or not. */
  readonly ended: Promise<void>;
  readonly dispose: () => Promise<void>;
};

/**
 * Starts the PostgreSQL that lives in `dataFolder`. The caller holds the folder's lock.
 *
 * As root the server runs under an unprivileged user; see decision 0062 for what that user can and cannot reach.
 */
export async function startEmbeddedDatabase(dataFolder: string): Promise<EmbeddedDatabase> {
  const data = resolve(dataFolder);
  const base = join(data, "database");
  const account = await chooseAccount(base);
  if (account) await chmod(data, 0o711);
  await makeOwnFolder(base, account);
  const isReachable = !account || (await canEnter(account, data));
  const programs = isReachable ? data : SYSTEM_FOLDER;
  await mkdir(programs, { recursive: true, mode: 0o711 });
  const binaries = await provideBinaries(account, programs);
  const password = await readOrMakePassword(join(data, "database-password"));
  const postmaster = await startPostmaster({ binaries, base, account, password });
  const door = await openSocketFolder(join(base, CLUSTER));
  return {
    connection: { socketFolder: door.path, user: DATABASE_USER, password },
    ended: postmaster.ended,
    dispose: async () => {
      await postmaster.stop();
      await door.handle?.close();
    },
  };
}

/** A path to the socket that fits an address, whatever the folder's own path is. */
async function openSocketFolder(folder: string): Promise<{ readonly path: string; readonly handle?: FileHandle }> {
  if (Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX) return { path: folder };
  const handle = await open(folder, "r");
  return { path: `/proc/self/fd/${handle.fd}`, handle };
}

async function readOrMakePassword(path: string): Promise<string> {
  const existing = await readFile(path, "utf8").catch(() => undefined);
  if (existing) return existing.trim();
  const password = randomBytes(24).toString("base64url");
  await writeFile(path, password, { mode: 0o600, flag: "wx" });
  return password;
}

/** Holds programs only, one copy for all servers of the machine. */
const SYSTEM_FOLDER = "/var/lib/weft-server";
/** Linux takes 107; the rest is a margin for other systems. */
const SOCKET_PATH_BYTES_MAX = 100;
