import { readdirSync, readFileSync } from "node:fs";

/** User and system seconds that a process has used since it started; 0 when it no longer exists. */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (numberAt(fields, USER_TICKS) + numberAt(fields, SYSTEM_TICKS)) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** Resident memory of a process in bytes. Throws when the process no longer exists. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (found === undefined) throw new Error(`/proc/${String(pid)}/status has no VmRSS`);
  return Number.parseInt(found, 10) * 1_024;
}

/** CPU time of a process to the nanosecond, over its living threads; 0 when it no longer exists. */
export function cpuNanoseconds(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${String(pid)}/task`);
    return threads.reduce((sum, thread) => {
      const [onCpu = "0"] = readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, "utf8").split(" ");
      return sum + Number.parseInt(onCpu, 10);
    }, 0);
  } catch {
    return 0;
  }
}

/** A process's memory in bytes with what it shares divided among its holders; 0 when it no longer exists. */
export function proportionalBytes(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8");
    return Number.parseInt(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? "0", 10) * 1_024;
  } catch {
    return 0;
  }
}

/** Processes that descend from one, itself not among them. */
export function descendantPids(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number.parseInt(name, 10));
    if (parent !== undefined) parents.set(Number.parseInt(name, 10), parent);
  }
  const descends = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === ancestor || descends(parents.get(pid)));
  return [...parents].flatMap(([pid, parent]) => (descends(parent) ? [pid] : []));
}

/** Ticks of the whole machine since it started: in software interrupts, and of any kind including idle. */
export function machineTicks(): { readonly softirq: number; readonly total: number } {
  const line = readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "";
  const ticks = line.trim().split(/\s+/).slice(1).map(Number);
  return { softirq: ticks.at(SOFTIRQ_COLUMN) ?? 0, total: ticks.slice(0, 8).reduce((sum, value) => sum + value, 0) };
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    return numberAt(stat.slice(stat.lastIndexOf(")") + 2).split(" "), PARENT);
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

function numberAt(fields: readonly string[], index: number): number {
  return Number.parseInt(fields.at(index) ?? "0", 10);
}

/** Positions after the closing bracket of the command name. */
const PARENT = 1;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const SOFTIRQ_COLUMN = 6;
/** Linux reports process times in units of 1/100 s on every architecture. */
const TICKS_PER_SECOND = 100;
