import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { cleanUpLater } from "./cleanup.ts";
import type { Host } from "./namespaces.ts";

export type ProgramOptions = {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly host?: Host;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The one core that it may use; all of them when absent. */
  readonly core?: number;
  /** How it is asked to end; SIGTERM when absent. */
  readonly stopBy?: "SIGTERM" | "closing its input";
  /** Called for each complete line on either output. */
  readonly onLine?: (line: string) => void;
};

/** A running program that stops with us, also when we are killed. */
export type Program = {
  readonly name: string;
  readonly pid: number;
  readonly logs: () => string;
  /** Resolves with the first line that the probe maps to a value; rejects when the program ends first or time is up. */
  readonly waitForLine: <T>(what: string, withinMs: number, probe: (line: string) => T | undefined) => Promise<T>;
  readonly write: (text: string) => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly isRunning: () => boolean;
  readonly ended: Promise<number>;
  /** Asks it to end, then SIGKILL after the deadline. Returns the exit code. */
  readonly stop: (deadlineMs?: number) => Promise<number>;
};

/** Starts a program, inside a host when one is given, and collects what it prints. */
export function startProgram(options: ProgramOptions): Program {
  const pinned = options.core === undefined ? [] : ["taskset", "--cpu-list", String(options.core)];
  const direct = ["setpriv", "--pdeathsig", "TERM", ...pinned, options.program, ...options.args] as const;
  const [program, ...args] = options.host ? options.host.wrap(direct[0], direct.slice(1)) : direct;
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own: a terminal's Ctrl-C reaches only us, and we stop things in order.
    detached: true,
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`cannot start ${options.name} (${program})`);
  const lines: string[] = [];
  const watchers = new Set<(line: string) => void>();
  const handleLine = (line: string): void => {
    lines.push(line);
    if (lines.length > KEPT_LINES_MAX) lines.shift();
    options.onLine?.(line);
    for (const watch of watchers) watch(line);
  };
  createInterface({ input: child.stdout }).on("line", handleLine);
  createInterface({ input: child.stderr }).on("line", handleLine);
  child.stdin.on("error", () => {
    // It no longer reads; `ended` says why.
  });
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(-1));
    child.once("close", (code, signal) => resolve(code ?? (signal === null ? -1 : SIGNAL_CODE)));
  });
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals): void => {
    if (isRunning()) child.kill(name);
  };
  const askToEnd = (): void => {
    if (options.stopBy === "closing its input") child.stdin.end();
    else signal("SIGTERM");
  };
  const forget = cleanUpLater({
    name: options.name,
    run: async () => {
      askToEnd();
      const timer = setTimeout(() => signal("SIGKILL"), STOP_DEADLINE_MS);
      await ended;
      clearTimeout(timer);
    },
    runSync: () => signal("SIGKILL"),
  });
  return {
    name: options.name,
    pid,
    logs: () => lines.join("\n"),
    waitForLine: (what, withinMs, probe) =>
      waitForLine({ name: options.name, lines, watchers, ended }, { what, withinMs, probe }),
    write: (text) => void child.stdin.write(text),
    signal,
    isRunning,
    ended,
    async stop(deadlineMs = STOP_DEADLINE_MS) {
      askToEnd();
      const timer = setTimeout(() => signal("SIGKILL"), deadlineMs);
      const code = await ended;
      clearTimeout(timer);
      await forget();
      return code;
    },
  };
}

type Output = {
  readonly name: string;
  readonly lines: readonly string[];
  readonly watchers: Set<(line: string) => void>;
  readonly ended: Promise<number>;
};

type Wait<T> = { readonly what: string; readonly withinMs: number; readonly probe: (line: string) => T | undefined };

function waitForLine<T>(output: Output, wait: Wait<T>): Promise<T> {
  for (const line of output.lines) {
    const found = wait.probe(line);
    if (found !== undefined) return Promise.resolve(found);
  }
  return new Promise<T>((resolve, reject) => {
    const fail = (reason: string): void => {
      stop();
      const tail = output.lines.slice(-QUOTED_LINES).join("\n");
      reject(new Error(`${output.name}: no "${wait.what}" (${reason}). Its last words:\n${tail}`));
    };
    const timer = setTimeout(() => fail(`waited ${String(wait.withinMs)} ms`), wait.withinMs);
    const watch = (line: string): void => {
      const found = wait.probe(line);
      if (found === undefined) return;
      stop();
      resolve(found);
    };
    const stop = (): void => {
      clearTimeout(timer);
      output.watchers.delete(watch);
    };
    output.watchers.add(watch);
    const watchEnd = async (): Promise<void> => {
      const code = await output.ended;
      if (output.watchers.has(watch)) fail(`it ended with ${String(code)}`);
    };
    void watchEnd();
  });
}

const KEPT_LINES_MAX = 5_000;
const QUOTED_LINES = 30;
const STOP_DEADLINE_MS = 8_000;
const SIGNAL_CODE = 128;
