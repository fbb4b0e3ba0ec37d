import { execFile } from "node:child_process";

import { err, ok, type Result } from "@weft/protocol";

/** A program that failed or could not be started; `message` quotes its last words. */
export type CommandError = { readonly code: "failed"; readonly message: string };

/** Runs a program to its end: an argument array, never a shell. */
export function runCommand(program: string, args: readonly string[]): Promise<Result<undefined, CommandError>> {
  return new Promise((resolve) => {
    execFile(program, [...args], { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX }, (error, _out, problems) => {
      if (error === null) return resolve(ok(undefined));
      const words = problems.trim().slice(-500) || error.message;
      resolve(err({ code: "failed", message: `"${[program, ...args].join(" ")}" failed: ${words}` }));
    });
  });
}

const TIMEOUT_MS = 30_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;
