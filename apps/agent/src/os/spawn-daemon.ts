import { spawn } from "node:child_process";

import { err, ok, type Result } from "@weft/protocol";

import { isRecord } from "../state/state-store.ts";

/** What the daemon process tells the one that started it. */
export type DaemonNotice =
  | { readonly kind: "started" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/**
 * Starts the daemon as a process of its own that outlives this one, and waits until it listens or has failed. `program` is
 * the script of this very program.
 */
export function spawnDaemon(
  program: string,
  stateDirectory: string,
): Promise<Result<{ readonly pid: number }, { readonly code: string; readonly message: string }>> {
  const child = spawn(process.execPath, [program, DAEMON_VERB, stateDirectory], {
    detached: true,
    cwd: "/",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve(err({ code: "timeout", message: "the daemon did not start in time; its log tells why" })),
      START_TIMEOUT_MS,
    );
    const settle: typeof resolve = (outcome) => {
      clearTimeout(timer);
      if (child.connected) child.disconnect();
      child.unref();
      resolve(outcome);
    };
    child.on("message", (message: unknown) => {
      const notice = parseNotice(message);
      if (notice?.kind === "started") settle(ok({ pid: child.pid ?? 0 }));
      if (notice?.kind === "failed") settle(err(notice));
    });
    child.on("error", (error) => settle(err({ code: "failed", message: `cannot start the daemon: ${error.message}` })));
    child.on("exit", (code) =>
      settle(err({ code: "failed", message: `the daemon ended at once (code ${code ?? "none"}); its log tells why` })),
    );
  });
}

/** Tells the starting process, if there is one, how it went. */
export function notifyStarter(notice: DaemonNotice): void {
  if (process.send && process.connected) process.send(notice, () => process.connected && process.disconnect());
}

/** First word of the command line of a daemon process; not for people. */
export const DAEMON_VERB = "daemon-process";

function parseNotice(message: unknown): DaemonNotice | null {
  if (!isRecord(message)) return null;
  const { kind, code, message: text } = message;
  if (kind === "started") return { kind };
  return kind === "failed" && typeof code === "string" && typeof text === "string"
    ? { kind, code, message: text }
    : null;
}

const START_TIMEOUT_MS = 20_000;
