import type { Result } from "@weft/protocol";

import type { StatePaths } from "../settings/paths.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { CliFailure, Output } from "./output.ts";

/** What every command gets. */
export type CommandContext = {
  readonly output: Output;
  readonly paths: StatePaths;
  /** Why no tunnel can be made here; `null` when it can. */
  readonly whyNoTunnel: () => string | null;
  /** Runs the daemon in this process; resolves with the exit code when it has ended. */
  readonly runForeground: (output: Output, paths: StatePaths) => Promise<ExitCode>;
};

/** Prints the failure of a command and chooses the exit code. */
export type CommandOutcome = Result<ExitCode, CliFailure>;
