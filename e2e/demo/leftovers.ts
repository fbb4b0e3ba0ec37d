import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

import { isStillRunning, markProcess, type ProcessMark } from "../harness/process-mark.ts";

/** Writes down which processes belong to the demo in this folder, so that a later start can end them. */
export function recordProcesses(folder: string, pids: readonly number[]): void {
  const marks = pids.flatMap((pid) => markProcess(pid) ?? []);
  writeFileSync(join(folder, RECORD), JSON.stringify(marks), { mode: 0o600 });
}

/** Where a new demo of this process keeps everything. */
export function demoFolder(): string {
  return join(tmpdir(), `${FOLDER_START}${String(process.pid)}`);
}

/** Removes what demos that were killed left behind: their processes, then their folders. Returns how many there were. */
export async function removeLeftovers(): Promise<number> {
  let removed = 0;
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_START)) continue;
    const folder = join(tmpdir(), name);
    const [supervisor, ...others] = readMarks(folder);
    if (supervisor && isStillRunning(supervisor)) continue;
    await endAll(others);
    rmSync(folder, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

async function endAll(marks: readonly ProcessMark[]): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const alive = marks.filter(isStillRunning);
    if (alive.length === 0) return;
    for (const { pid } of alive) process.kill(pid, signal);
    for (let waited = 0; waited < GRACE_MS && alive.some(isStillRunning); waited += STEP_MS) await pause(STEP_MS);
  }
}

function readMarks(folder: string): ProcessMark[] {
  const file = join(folder, RECORD);
  if (!existsSync(file)) return [];
  const parsed = z.array(ProcessMarkSchema).safeParse(JSON.parse(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : [];
}

const ProcessMarkSchema = z.object({ pid: z.int().positive(), startTicks: z.string() });
const FOLDER_START = "weft-demo-";
const RECORD = "processes.json";
const GRACE_MS = 6_000;
const STEP_MS = 100;
