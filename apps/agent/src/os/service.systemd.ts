import { rmSync } from "node:fs";
import { basename } from "node:path";

import type { Result } from "@weft/protocol";

import { runCommand, type CommandError } from "./run-command.ts";

type Outcome = Promise<Result<undefined, CommandError>>;

/** Starts the unit whose file is at `unitPath`; systemd keeps it running from then on. */
export function startService(unitPath: string): Outcome {
  return runCommand(SYSTEMCTL, ["start", basename(unitPath)]);
}

/** Stops the unit until it is started again or the host boots. */
export function stopService(unitPath: string): Outcome {
  return runCommand(SYSTEMCTL, ["stop", basename(unitPath)]);
}

/** Stops the unit and makes systemd forget it. */
export async function removeService(unitPath: string): Outcome {
  const disabled = await runCommand(SYSTEMCTL, ["disable", "--now", basename(unitPath)]);
  if (!disabled.ok) return disabled;
  rmSync(unitPath, { force: true });
  return runCommand(SYSTEMCTL, ["daemon-reload"]);
}

const SYSTEMCTL = "systemctl";
