import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createLog, type Log } from "../daemon/log.ts";
import { statePaths, type StatePaths } from "../settings/paths.ts";

/** A state directory of its own; the returned function removes it. */
export function aStateDirectory(): { readonly paths: StatePaths; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "weft-agent-"));
  return { paths: statePaths(directory), remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A log that keeps its lines. */
export function aLog(): { readonly log: Log; readonly lines: string[]; readonly events: () => string[] } {
  const lines: string[] = [];
  return {
    log: createLog((line) => void lines.push(line), Date.now, "debug"),
    lines,
    events: () => lines.map((line) => (JSON.parse(line) as { event: string }).event),
  };
}

/** Waits until a condition holds; names what did not come when the time is over. */
export async function eventually(what: string, holds: () => boolean, timeoutMs = 5_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`did not happen within ${timeoutMs} ms: ${what}`);
    await new Promise<void>((resolve) => void setTimeout(resolve, 5));
  }
}
