import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { lockFolder } from "./folder-lock.ts";

test("a folder is locked once, and free again after the release", async () => {
  const folder = await temporaryFolder();

  const first = await lockFolder(folder);
  const second = await lockFolder(folder);
  await first?.release();
  const third = await lockFolder(folder);

  expect([first === undefined, second === undefined, third === undefined]).toEqual([false, true, false]);
  await third?.release();
});

test("the lock of a process that was killed is taken over by exactly one of many", async () => {
  const folder = await temporaryFolder();
  await leaveDeadLock(folder);

  const locks = await Promise.all(Array.from({ length: 20 }, () => lockFolder(folder)));

  expect(locks.filter((lock) => lock !== undefined)).toHaveLength(1);
  for (const lock of locks) await lock?.release();
});

test("a path that is longer than a socket address can be locked", async () => {
  const folder = join(await temporaryFolder(), "x".repeat(120), "y".repeat(120));
  await mkdir(folder, { recursive: true });

  const lock = await lockFolder(folder);

  expect(lock).toBeDefined();
  expect(await lockFolder(folder)).toBeUndefined();
  await lock?.release();
});

/** A socket file whose owner was killed, so that nothing removed it. */
async function leaveDeadLock(folder: string): Promise<void> {
  const program = `require("node:net").createServer().listen(process.argv[1], () => process.stdout.write("up"));`;
  const child = spawn(process.execPath, ["-e", program, join(folder, "lock")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((done) => child.stdout.once("data", done));
  const dead = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await dead;
  await expect(
    new Promise((done, fail) =>
      createServer()
        .once("error", fail)
        .listen(join(folder, "lock"), () => done(undefined)),
    ),
  ).rejects.toThrow(/EADDRINUSE/);
}
