import { link, open, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Server } from "node:net";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A lock that ends with the process that holds it. */
export type FolderLock = { readonly release: () => Promise<void> };

/**
 * Takes the folder for this process, or says that another one has it.
 *
 * The lock is a listening Unix socket: the kernel closes it when its owner dies, however it dies, and it is seen from
 * other process and network namespaces that share the folder. Files with a process number give neither.
 */
export async function lockFolder(folder: string): Promise<FolderLock | undefined> {
  const handle = await open(folder, "r");
  try {
    return await takeLock(folder, handle);
  } finally {
    await handle.close();
  }
}

async function takeLock(folder: string, handle: FileHandle): Promise<FolderLock | undefined> {
  // Socket addresses hold about 100 bytes; going through the open folder keeps them short.
  const near = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
  const own = `lock.${randomBytes(6).toString("hex")}`;
  const server = await listen(near(own));
  try {
    const deadline = Date.now() + TAKEOVER_WAIT_MS;
    while (Date.now() < deadline) {
      if (await claimName(folder, own)) {
        return {
          release: async () => {
            await rm(join(folder, LOCK_NAME), { force: true });
            await close(server);
          },
        };
      }
      if (await answers(near(LOCK_NAME))) break;
      await removeDead(folder, near);
    }
  } finally {
    await rm(join(folder, own), { force: true });
  }
  await close(server);
  return undefined;
}

async function claimName(folder: string, own: string): Promise<boolean> {
  return link(join(folder, own), join(folder, LOCK_NAME)).then(
    () => true,
    () => false,
  );
}

/** Takes a dead lock away; only one process at a time may do so, or it could take a fresh one. */
async function removeDead(folder: string, near: (name: string) => string): Promise<void> {
  const guardPath = join(folder, "lock.takeover");
  const guard = await open(guardPath, "wx").catch(() => undefined);
  if (!guard) {
    const left = await stat(guardPath).catch(() => undefined);
    if (left && Date.now() - left.mtimeMs > TAKEOVER_WAIT_MS) await rm(guardPath, { force: true });
    await delay(20);
    return;
  }
  try {
    if (await answers(near(LOCK_NAME))) return;
    const aside = join(folder, `lock.dead.${randomBytes(6).toString("hex")}`);
    await rename(join(folder, LOCK_NAME), aside).catch(() => undefined);
    await rm(aside, { force: true });
  } finally {
    await guard.close();
    await rm(guardPath, { force: true });
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}

function listen(path: string): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", fail);
    server.listen(path, () => {
      server.unref();
      done(server);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()));
}

const LOCK_NAME = "lock";
const TAKEOVER_WAIT_MS = 5_000;
