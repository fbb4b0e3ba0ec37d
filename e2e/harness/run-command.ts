import { spawn } from "node:child_process";

export type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type CommandOptions = {
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** Runs a program by argument array, never through a shell, and returns what it printed. Rejects only if it cannot be started. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const out: Buffer[] = [];
    const problems: Buffer[] = [];
    const timer = setTimeout(() => {
      problems.push(
        Buffer.from(`\n${program} was stopped after ${String(options.timeoutMs ?? DEFAULT_TIMEOUT_MS)} ms`),
      );
      child.kill("SIGKILL");
    }, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => problems.push(chunk));
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`cannot start ${program}: ${error.message}`, { cause: error }));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({
        code: code ?? KILLED_CODE,
        stdout: Buffer.concat(out).toString("utf8"),
        stderr: Buffer.concat(problems).toString("utf8"),
      });
    });
    child.stdin.on("error", () => {
      // The program closed its input early; its exit code tells the rest.
    });
    child.stdin.end(options.input ?? "");
  });
}

/** Like {@link runCommand}, but a non-zero exit code is an error that quotes the program's words. Returns standard output. */
export async function mustRun(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await runCommand(program, args, options);
  if (result.code !== 0) {
    const said = (result.stderr.trim() || result.stdout.trim()).slice(-2_000);
    throw new Error(`"${[program, ...args].join(" ")}" ended with ${String(result.code)}: ${said}`);
  }
  return result.stdout;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const KILLED_CODE = 137;
