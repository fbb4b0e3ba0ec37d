import type { Result } from "@weft/protocol";

import type { Installation } from "../os/installation.ts";
import type { StatePaths } from "../settings/paths.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { CliFailure, Output } from "./output.ts";

/** What every command gets. */
export type CommandContext = {
  readonly output: Output;
  readonly paths: StatePaths;
  readonly installation: Installation;
  /** Asks the person a question that is answered by yes or no. */
  readonly confirm: (question: string) => Promise<Answer>;
  /** Why no tunnel can be made here; `null` when it can. */
  readonly whyNoTunnel: () => string | null;
  /** Runs the daemon in this process; resolves with the exit code when it has ended. */
  readonly runForeground: (output: Output, paths: StatePaths) => Promise<ExitCode>;
};

/** "nobody": there is no terminal to ask at. */
export type Answer = "yes" | "no" | "nobody";

/** Prints the failure of a command and chooses the exit code. */
export type CommandOutcome = Result<ExitCode, CliFailure>;
