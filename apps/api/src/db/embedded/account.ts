import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user that runs the database server. */
export type Account = { readonly uid: number; readonly gid: number };

/**
 * Chooses the unprivileged user for the database, or `undefined` when this process may run it itself.
 *
 * PostgreSQL refuses to run as root. An existing database folder decides, so that a later change of the system's
 * users never locks us out of it.
 */
export async function chooseAccount(databaseFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await stat(databaseFolder).catch(() => undefined);
  if (existing && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  for (const name of ACCOUNT_NAMES) {
    const account = findUser(users, name);
    if (account) return account;
  }
  return { uid: FALLBACK_ID, gid: FALLBACK_ID };
}

/** True when `account` can reach and enter `folder` through all its parents. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    const entry = await stat(path).catch(() => undefined);
    if (!entry) return false;
    const shift = entry.uid === account.uid ? 6 : entry.gid === account.gid ? 3 : 0;
    if (((entry.mode >> shift) & 1) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

function findUser(users: string, name: string): Account | undefined {
  const line = users.split("\n").find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (!uid || !gid || Number(uid) === 0) return undefined;
  return { uid: Number(uid), gid: Number(gid) };
}

const ACCOUNT_NAMES = ["weft", "postgres", "nobody"];
const FALLBACK_ID = 65_534;
