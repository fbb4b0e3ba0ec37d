import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

/** A network namespace of a test, with what runs in it. */
export type Namespace = {
  readonly name: string;
  /** Runs a command inside and returns what it printed; throws when it fails. */
  readonly run: (program: string, ...args: readonly string[]) => string;
  /** The same while this process goes on working. */
  readonly runBeside: (program: string, ...args: readonly string[]) => Promise<string>;
  readonly remove: () => void;
};

export function createNamespace(name: string): Namespace {
  execFileSync("ip", ["netns", "add", name]);
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync("ip", ["netns", "exec", name, program, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  run("ip", "link", "set", "lo", "up");
  const runBeside = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("ip", ["netns", "exec", name, program, ...args], { encoding: "utf8" });
    return stdout;
  };
  return { name, run, runBeside, remove: () => void execFileSync("ip", ["netns", "delete", name]) };
}

/** Why tests that need namespaces cannot run here; null when they can. */
export function whyNoNamespaces(programs: readonly string[]): string | null {
  if (process.getuid?.() !== 0) return "not root";
  const missing = ["ip", ...programs].filter((program) => !isOnPath(program));
  return missing.length > 0 ? `not installed: ${missing.join(", ")}` : null;
}

function isOnPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(":");
  return folders.some((folder) => existsSync(`${folder}/${program}`));
}
