import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";

import { err, ok, type Result } from "@weft/protocol";

import { takeBack, type TakenBack } from "../../os/take-back.ts";
import type { InstallRecord } from "../../os/installation.ts";
import { lockHolder } from "../../state/lock.ts";
import { createStateStore } from "../../state/state-store.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { stopDaemon } from "../daemon-control.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";
import { endMembership } from "./leave.ts";

export type UninstallOptions = {
  readonly consent: "ask" | "given";
  readonly force: "ask_server" | "forget_anyway";
};

/** Takes back everything that the install script put on this host, and leaves the network first. */
export async function uninstall(context: CommandContext, options: UninstallOptions): Promise<CommandOutcome> {
  const { record } = context.installation;
  if (record === null) {
    return err({
      code: "not_installed",
      message:
        'this program was not put here by the install script, so there is nothing to take back; "weft leave" ends the membership',
    });
  }
  const allowed = await mayUninstall(context, record, options.consent);
  if (!allowed.ok) return allowed;
  const left = await leaveIfMember(context, options.force);
  if (!left.ok) return left;
  const taken = await takeBack(record, context.paths);
  if (!taken.ok) return taken;
  context.output.result(
    { uninstalled: true, ...left.value, ...taken.value },
    report(left.value.serverTold, taken.value),
  );
  return ok(EXIT_CODES.ok);
}

async function mayUninstall(
  context: CommandContext,
  record: InstallRecord,
  consent: UninstallOptions["consent"],
): Promise<Result<undefined, CliFailure>> {
  try {
    for (const path of [record.prefix, record.link, record.unit]) {
      if (path !== null) accessSync(dirname(path), constants.W_OK);
    }
  } catch {
    return err({ code: "permission", message: "removing weft needs the rights it was installed with; try with sudo" });
  }
  if (consent === "given") return ok(undefined);
  const question = `This leaves the network and removes weft, its keys and its service from this host (${record.prefix}, ${context.paths.directory}). Go on?`;
  const answer = context.output.format === "json" ? "nobody" : await context.confirm(question);
  switch (answer) {
    case "yes":
      return ok(undefined);
    case "no":
      return err({ code: "declined", message: "nothing was removed" });
    case "nobody":
      return err({ code: "usage", message: "there is nobody to ask; say --yes to remove weft from this host" });
  }
}

/** `serverTold` is null for a host that belongs to no network. */
async function leaveIfMember(
  context: CommandContext,
  force: UninstallOptions["force"],
): Promise<Result<{ readonly serverTold: boolean | null }, CliFailure>> {
  const membership = createStateStore(context.paths).loadMembership();
  if (membership.ok || membership.error.code !== "missing") return endMembership(context, force);
  if (lockHolder(context.paths.lock) === null) return ok({ serverTold: null });
  const stopped = await stopDaemon(context);
  return stopped.ok ? ok({ serverTold: null }) : stopped;
}

function report(serverTold: boolean | null, taken: TakenBack): string[] {
  const left = {
    true: "left the network",
    false: "the server was not told; remove the peer in the dashboard",
    null: "was in no network",
  };
  return [
    left[`${serverTold}`],
    ...taken.removed.map((path) => `removed ${path}`),
    ...taken.kept.map((path) => `kept    ${path}, it holds files that are not weft's`),
    "weft is no longer on this host",
  ];
}
