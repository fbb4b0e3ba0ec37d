import type { Command } from "commander";

import type { CommandContext, CommandOutcome } from "../context.ts";

export type Run = (
  common: { readonly json?: boolean; readonly stateDir?: string },
  command: (context: CommandContext) => Promise<CommandOutcome>,
) => Promise<void>;

/** Where the control plane is, and who asks. */
export function addAccess(command: Command): Command {
  return command
    .option("--server <url>", "address of the control plane; else WEFT_SERVER")
    .option("--token-file <file>", "file with an API token; else WEFT_TOKEN_FILE or WEFT_TOKEN");
}
