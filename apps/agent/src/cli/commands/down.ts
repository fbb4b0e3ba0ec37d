import { ok } from "@weft/protocol";

import type { CommandContext, CommandOutcome } from "../context.ts";
import { stopDaemon } from "../daemon-control.ts";
import { restoreLeftovers } from "../../os/resolver-guard.ts";
import { EXIT_CODES } from "../exit-codes.ts";

/** Stops the daemon; the host stays a member and `weft up` brings it back. */
export async function down(context: CommandContext): Promise<CommandOutcome> {
  const stopped = await stopDaemon(context);
  // Also when no daemon runs: one that was killed could not give the host its resolver back.
  restoreLeftovers({ backupPath: context.paths.resolverBackup });
  if (!stopped.ok) return stopped;
  context.output.result({ stopped: true }, ["stopped; interface, addresses and routes are gone"]);
  return ok(EXIT_CODES.ok);
}
