import { readFileSync } from "node:fs";

/** A process that cannot be mistaken for a later one with the same number. */
export type ProcessMark = { readonly pid: number; readonly startTicks: string };

/** Marks a running process; `undefined` when there is none of this number. */
export function markProcess(pid: number): ProcessMark | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD];
    return startTicks === undefined ? undefined : { pid, startTicks };
  } catch {
    return undefined;
  }
}

/** Whether the marked process still runs. */
export function isStillRunning(mark: ProcessMark): boolean {
  return markProcess(mark.pid)?.startTicks === mark.startTicks;
}

/** Position of the start time after the closing bracket of the command name in /proc/PID/stat. */
const START_FIELD = 19;
