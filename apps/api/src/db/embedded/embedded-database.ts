import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { canEnter, chooseAccount } from "./account.ts";
import type { Account } from "./account.ts";
import { provideBinaries } from "./binaries.ts";
import { DATABASE_USER, startPostmaster } from "./postmaster.ts";

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
 * As root the server runs under an unprivileged user. Where that user cannot enter `dataFolder` (a clone below
 * `/root`, say), the database lives below `/var/lib/weft` instead and `dataFolder` gets a link to it.
 */
export async function startEmbeddedDatabase(dataFolder: string): Promise<EmbeddedDatabase> {
  const data = resolve(dataFolder);
  const linkOrFolder = join(data, "database");
  const account = await chooseAccount(linkOrFolder);
  if (account) await chmod(data, 0o711);
  const base = await prepareBase(linkOrFolder, data, account);
  const binaries = await provideBinaries(account, join(base, ".."));
  const socket = await prepareSocketFolder(base, account);
  const password = await readOrMakePassword(join(data, "database-password"));
  const postmaster = await startPostmaster({ binaries, folders: { base, socket }, account, password });
  return {
    connection: { socketFolder: socket, user: DATABASE_USER, password },
    ended: postmaster.ended,
    dispose: async () => {
      await postmaster.stop();
      if (!socket.startsWith(base)) await rm(socket, { recursive: true, force: true });
    },
  };
}

async function prepareBase(wanted: string, data: string, account: Account | undefined): Promise<string> {
  if (!account || (await canEnter(account, data))) {
    await makeOwnFolder(wanted, account);
    return wanted;
  }
  const name = createHash("sha256").update(data).digest("hex").slice(0, 16);
  const elsewhere = join(SYSTEM_FOLDER, `server-${name}`);
  await mkdir(elsewhere, { recursive: true, mode: 0o711 });
  const base = join(elsewhere, "database");
  if (!(await lstat(wanted).catch(() => undefined))) {
    // Without our link the data folder is new: whatever is there belongs to one that was deleted.
    await rename(base, `${base}.replaced-${Date.now()}`).catch(() => undefined);
    await symlink(base, wanted);
  }
  await makeOwnFolder(base, account);
  return base;
}

async function prepareSocketFolder(base: string, account: Account | undefined): Promise<string> {
  const beside = join(base, "socket");
  if (Buffer.byteLength(join(beside, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX) {
    await makeOwnFolder(beside, account);
    return beside;
  }
  const short = await mkdtemp(join(process.env["XDG_RUNTIME_DIR"] ?? tmpdir(), "weft-"));
  await makeOwnFolder(short, account);
  return short;
}

async function makeOwnFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
}

async function readOrMakePassword(path: string): Promise<string> {
  const existing = await readFile(path, "utf8").catch(() => undefined);
  if (existing) return existing.trim();
  const password = randomBytes(24).toString("base64url");
  await writeFile(path, password, { mode: 0o600, flag: "wx" });
  return password;
}

const SYSTEM_FOLDER = "/var/lib/weft";
const SOCKET_NAME = ".s.PGSQL.5432";
/** Linux takes 107; the rest is a margin for other systems. */
const SOCKET_PATH_BYTES_MAX = 100;
