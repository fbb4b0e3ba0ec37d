import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { dirname } from "node:path";

/** The folder that holds the top-level package.json. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What a child program did: its exit status and everything it printed. */
class StepFailed extends Error {
  constructor(title, status, output) {
    super(`${title} failed (exit status ${status})`);
    this.output = output;
  }
}

/**
 * Runs a program quietly and resolves with its output; `onLine` sees every line as it comes.
 * Rejects with StepFailed when the exit status is not 0 and `allowFailure` is unset.
 */
export function run(command, args, { cwd = root, env = {}, onLine, allowFailure, title = command } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    let output = "";
    let pending = "";
    const take = (chunk) => {
      output += chunk;
      pending += chunk;
      const lines = pending.split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) onLine?.(line);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.on("error", (error) => reject(new StepFailed(`${title}: ${error.message}`, -1, output)));
    child.on("close", (code, signal) => {
      running.delete(child);
      if (pending) onLine?.(pending);
      const status = code ?? `signal ${signal}`;
      if (status === 0 || allowFailure) resolve({ status, output });
      else reject(new StepFailed(title, status, output));
    });
  });
}

/** Asks every program that {@link run} started and that still runs to end; whoever waits for one goes on to clean up. */
export function interrupt() {
  interrupted = true;
  for (const child of running) child.kill("SIGTERM");
}

/** Throws once {@link interrupt} was called: between two steps of long work. */
export function throwIfInterrupted() {
  if (interrupted) throw new Error("interrupted");
}

let interrupted = false;

const running = new Set();

/** The first line a program prints for `args`, or null where the program is missing. */
export function firstLine(command, args) {
  const result = spawnSync(command, args, { encoding: "utf8" });
  if (result.error || result.status !== 0) return null;
  return `${result.stdout}${result.stderr}`.trim().split("\n")[0] ?? "";
}

/** Runs the pinned pnpm; the user installs nothing for it. */
export function pnpm(args, options) {
  return run("npx", ["--yes", `pnpm@${pnpmVersion}`, ...args], { title: "pnpm", ...options });
}

const pnpmVersion = "12.4.2";

/** Path of a tool that the workspace's own dependencies brought. */
export const bin = (name) => `${root}/node_modules/.bin/${name}`;
