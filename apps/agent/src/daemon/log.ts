import { appendFileSync, renameSync, statSync } from "node:fs";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes one JSON object per line: level, event name, fields. */
export type Log = { readonly [level in LogLevel]: (event: string, fields?: LogFields) => void } & {
  /** Level info, and never left out. */
  readonly audit: (event: string, fields?: LogFields) => void;
  /** The last lines, oldest first, wherever they were written to; long ones are cut. */
  readonly recent: () => readonly string[];
};
type LogFields = { readonly [name: string]: string | number | boolean | null | readonly string[] };

export type LogSink = (line: string) => void;

/**
 * Makes a log. The same event is written at most ten times per minute; how many were left out is told with the next one,
 * so an outage of days cannot fill a disk.
 */
export function createLog(sink: LogSink, wallClockMs: () => number, threshold: LogLevel = "info"): Log {
  const limit = createLineLimit();
  const recent: string[] = [];
  const print = (level: LogLevel, event: string, fields: LogFields): void => {
    const line = JSON.stringify({ time: new Date(wallClockMs()).toISOString(), level, event, ...fields });
    recent.push(line.slice(0, RECENT_LINE_LENGTH_MAX));
    if (recent.length > RECENT_LINES_MAX) recent.shift();
    sink(`${line}\n`);
  };
  const write = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (RANK[level] < RANK[threshold]) return;
    const allowed = limit(event, wallClockMs());
    if (allowed) print(level, event, { ...fields, ...allowed });
  };
  return {
    debug: (event, fields) => write("debug", event, fields),
    info: (event, fields) => write("info", event, fields),
    warn: (event, fields) => write("warn", event, fields),
    error: (event, fields) => write("error", event, fields),
    audit: (event, fields = {}) => print("info", event, fields),
    recent: () => [...recent],
  };
}

/** Decides per event name; `null` = leave this line out, otherwise what to add to it. */
function createLineLimit(): (event: string, nowMs: number) => LogFields | null {
  const recent = new Map<string, { windowStartMs: number; written: number; leftOut: number }>();
  return (event, nowMs) => {
    const seen = recent.get(event) ?? { windowStartMs: nowMs, written: 0, leftOut: 0 };
    if (nowMs - seen.windowStartMs >= WINDOW_MS || nowMs < seen.windowStartMs)
      Object.assign(seen, { windowStartMs: nowMs, written: 0 });
    recent.set(event, seen);
    if (seen.written >= LINES_PER_WINDOW) {
      seen.leftOut += 1;
      return null;
    }
    seen.written += 1;
    const { leftOut } = seen;
    seen.leftOut = 0;
    return leftOut > 0 ? { leftOut } : {};
  };
}

/** Appends to a file and keeps one older file: at most twice `bytesMax` on disk. */
export function fileSink(path: string, bytesMax: number = LOG_BYTES_MAX): LogSink {
  let size = sizeOf(path);
  return (line) => {
    try {
      if (size + line.length > bytesMax && size > 0) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      appendFileSync(path, line, { mode: 0o600 });
      size += line.length;
    } catch {
      // A full disk must not end the mesh; the next line tries again.
    }
  };
}

export function isLogLevel(text: string | undefined): text is LogLevel {
  return text !== undefined && Object.hasOwn(RANK, text);
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

const RANK: { readonly [level in LogLevel]: number } = { debug: 0, info: 1, warn: 2, error: 3 };
const WINDOW_MS = 60_000;
const LINES_PER_WINDOW = 10;
const LOG_BYTES_MAX = 5 * 1024 * 1024;
const RECENT_LINES_MAX = 500;
const RECENT_LINE_LENGTH_MAX = 2_000;
