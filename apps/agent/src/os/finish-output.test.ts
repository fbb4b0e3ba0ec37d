import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MODULE = fileURLToPath(new URL("../../dist/os/finish-output.js", import.meta.url));
const LENGTH = 4_000_000;
const PROGRAM = `
  import { finishOutput, outliveReaders } from ${JSON.stringify(MODULE)};
  const streams = [process.stdout, process.stderr];
  outliveReaders(streams);
  process.stdout.write("x".repeat(${LENGTH}));
  await finishOutput(streams);
  process.exit(7);
`;

const ARGUMENTS = ["--input-type=module", "--eval", PROGRAM];
const writeMuch = () => spawn(process.execPath, ARGUMENTS, { stdio: ["ignore", "pipe", "pipe"] });

test("a reader that comes late gets everything that was written before the end", async () => {
  const child = writeMuch();
  const exited = once(child, "exit");
  const complaint = text(child.stderr);
  // More than any buffer between the two takes: the program now waits for its reader.
  child.stdout.pause();
  await once(child.stdout, "readable");

  const [read, [code]] = await Promise.all([text(child.stdout), exited]);

  expect([read.length, code, await complaint]).toEqual([LENGTH, 7, ""]);
});

test("a reader that goes away ends nothing and keeps nothing", async () => {
  const child = writeMuch();
  const exited = once(child, "exit");
  const complaint = text(child.stderr);
  await once(child.stdout, "readable");
  child.stdout.destroy();

  expect([(await exited)[0], await complaint]).toEqual([7, ""]);
});

test("output that finds no room ends the program with the reason", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, ARGUMENTS, { stdio: ["ignore", full, "pipe"] });
  closeSync(full);
  const exited = once(child, "exit");
  const complaint = child.stderr === null ? "" : await text(child.stderr);

  expect((await exited)[0]).not.toBe(7);
  expect(complaint).toContain("ENOSPC");
});
