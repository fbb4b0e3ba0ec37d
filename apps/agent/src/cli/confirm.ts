import { createInterface } from "node:readline/promises";

import type { Answer } from "./context.ts";

/** Asks at the terminal; anything but a clear yes is a no. */
export async function confirm(question: string): Promise<Answer> {
  if (!process.stdin.isTTY) return "nobody";
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim()) ? "yes" : "no";
}
