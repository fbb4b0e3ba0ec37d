import { err, ok } from "@weft/protocol";

import { createStateStore } from "../../state/state-store.ts";
import { lockHolder } from "../../state/lock.ts";
import { askDaemon } from "../daemon-client.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { addressLines, startInBackground } from "../daemon-control.ts";

/** Starts the daemon of a host that has joined. */
export async function up(context: CommandContext, mode: "background" | "foreground"): Promise<CommandOutcome> {
  const { paths, output } = context;
  const membership = createStateStore(paths).loadMembership();
  if (!membership.ok && membership.error.code === "missing") {
    return err({
      code: "not_joined",
      message: 'this host belongs to no network; copy the join line from the dashboard ("Add host") and run it',
    });
  }
  if (!membership.ok) return membership;
  const obstacle = context.whyNoTunnel();
  if (obstacle !== null) return err({ code: "permission", message: obstacle });
  if (mode === "foreground") return ok(await context.runForeground(output, paths));
  if (lockHolder(paths.lock) !== null) {
    const status = await askDaemon(paths.socket, { method: "waitReady", timeoutMs: 15_000 }).answer;
    if (!status.ok) return status;
    output.result({ ...asObject(status.value), alreadyRunning: true }, [
      "the daemon runs already",
      ...addressLines(status.value),
    ]);
    return ok(EXIT_CODES.ok);
  }
  const started = await startInBackground(context);
  if (!started.ok) return started;
  output.result({ ...asObject(started.value), alreadyRunning: false }, addressLines(started.value));
  return ok(EXIT_CODES.ok);
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
