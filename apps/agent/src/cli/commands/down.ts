import { err, ok, type Result } from "@weft/protocol";

import { lockHolder } from "../../state/lock.ts";
import type { StatePaths } from "../../settings/paths.ts";
import { askDaemon } from "../daemon-client.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";

/** Stops the daemon; the host stays a member and `weft up` brings it back. */
export async function down(context: CommandContext): Promise<CommandOutcome> {
  const asked = await askDaemon(context.paths.socket, { method: "stop" }).answer;
  if (!asked.ok) return asked;
  const ended = await waitForEnd(context.paths);
  if (!ended.ok) return ended;
  context.output.result({ stopped: true }, ["stopped; interface, addresses and routes are gone"]);
  return ok(EXIT_CODES.ok);
}

/** Waits until the daemon has given its lock back. */
export async function waitForEnd(paths: StatePaths): Promise<Result<undefined, CliFailure>> {
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (lockHolder(paths.lock) !== null) {
    if (performance.now() > deadline)
      return err({ code: "timeout", message: `the daemon did not end within ${END_TIMEOUT_MS / 1000} s` });
    await new Promise<void>((resolve) => void setTimeout(resolve, 50));
  }
  return ok(undefined);
}

const END_TIMEOUT_MS = 6_000;
