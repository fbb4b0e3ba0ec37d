import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";

import { stateDirectory, statePaths } from "../settings/paths.ts";
import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { CommandContext, CommandOutcome } from "./context.ts";
import { EXIT_CODE_HELP, EXIT_CODES, exitCodeOf, type ExitCode } from "./exit-codes.ts";
import { createOutput, type Streams } from "./output.ts";
import { addAdmin } from "./admin/admin-command.ts";
import { join } from "./commands/join.ts";
import { up } from "./commands/up.ts";
import { down } from "./commands/down.ts";
import { leave } from "./commands/leave.ts";
import { status } from "./commands/status.ts";
import { uninstall } from "./commands/uninstall.ts";
import { debug } from "./commands/debug.ts";
import { profile } from "./commands/profile.ts";
import { flows } from "./commands/flows.ts";
import { ping } from "./commands/ping.ts";
import { version } from "./commands/version.ts";

export type CliDeps = Pick<CommandContext, "runForeground" | "whyNoTunnel" | "installation" | "confirm"> & {
  readonly streams: Streams;
};

type Common = { readonly json?: boolean; readonly stateDir?: string };
type JoinFlags = Common & {
  readonly name: string;
  readonly interface: string;
  readonly port: number;
  readonly foreground?: boolean;
};
type ProfileFlags = Common & {
  readonly seconds: number;
  readonly frequency: number;
  readonly format: "folded" | "pprof";
  readonly output?: string;
};
type PingFlags = Common & { readonly count: number; readonly interval: number; readonly timeout: number };

/** Reads the command line, runs the command, returns the exit code. */
export async function runCli(argv: readonly string[], deps: CliDeps): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT_CODES.ok;
  const run = async (
    common: Common,
    command: (context: CommandContext) => CommandOutcome | Promise<CommandOutcome>,
  ): Promise<void> => {
    const output = createOutput(common.json === true ? "json" : "text", deps.streams);
    const paths = statePaths(stateDirectory(common.stateDir, process.env, deps.installation.record?.stateDirectory));
    const outcome = await command({ ...deps, output, paths });
    if (outcome.ok) exitCode = outcome.value;
    else {
      output.failure(outcome.error);
      exitCode = exitCodeOf(outcome.error.code);
    }
  };
  const program = buildProgram(run);
  configure(program, deps.streams);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_CODES.ok;
    // Commander has told the person already; a program that asked for JSON reads standard output.
    if (argv.includes("--json"))
      createOutput("json", deps.streams).failure({ code: "usage", message: error.message.replace(/^error: /, "") });
    return EXIT_CODES.usage;
  }
}

type Run = (
  common: Common,
  command: (context: CommandContext) => CommandOutcome | Promise<CommandOutcome>,
) => Promise<void>;

function buildProgram(run: Run): Command {
  const program = new Command("weft")
    .description("Member of a weft mesh network.")
    // Operations have an option --version of their own.
    .enablePositionalOptions()
    .version(AGENT_VERSION, "--version", "print the version number");
  const verb = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option("--json", "print one JSON object")
      .option("--state-dir <directory>", "where keys and the map are kept");

  verb("join", "join a network with the line that the dashboard shows")
    .argument("<url>", "address of the server")
    .argument("<key>", "enrolment key")
    .option("--name <name>", "name of this host in the network", "")
    .option("--interface <name>", "name of the network interface", "weft0")
    .option("--port <number>", "UDP port; the next free one is taken when it is busy", portNumber, 51_820)
    .option("--foreground", "run the daemon in this process")
    .action((url: string, key: string, flags: JoinFlags) => {
      const mode = flags.foreground === true ? "foreground" : "background";
      return run(flags, (context) =>
        join(context, { url, key, name: flags.name, interfaceName: flags.interface, port: flags.port, mode }),
      );
    });
  verb("up", "start the daemon of a host that has joined")
    .option("--foreground", "run the daemon in this process")
    .action((flags: Common & { readonly foreground?: boolean }) =>
      run(flags, (context) => up(context, flags.foreground === true ? "foreground" : "background")),
    );
  verb("down", "stop the daemon; the host stays a member").action((flags: Common) => run(flags, down));
  verb("leave", "end the membership and delete the keys")
    .option("--force", "forget the membership even when the server cannot be told")
    .action((flags: Common & { readonly force?: boolean }) =>
      run(flags, (context) => leave(context, flags.force === true ? "forget_anyway" : "ask_server")),
    );
  verb("status", "show addresses, server and peers").action((flags: Common) => run(flags, status));
  verb("ping", "ping a peer through the tunnel")
    .argument("<peer>", "name or address")
    .option("-c, --count <number>", "how many requests", positive, 4)
    .option("--interval <ms>", "time between requests", positive, 1000)
    .option("--timeout <ms>", "how long to wait for a reply", positive, 2000)
    .action((peer: string, flags: PingFlags) =>
      run(flags, (context) =>
        ping(context, { peer, count: flags.count, intervalMs: flags.interval, timeoutMs: flags.timeout }),
      ),
    );
  addDiagnostics(verb, run);
  verb("uninstall", "leave the network and remove weft from this host")
    .option("--yes", "do not ask")
    .option("--force", "go on when the server cannot be told")
    .action((flags: Common & { readonly yes?: boolean; readonly force?: boolean }) =>
      run(flags, (context) =>
        uninstall(context, {
          consent: flags.yes === true ? "given" : "ask",
          force: flags.force === true ? "forget_anyway" : "ask_server",
        }),
      ),
    );
  addAdmin(program, run);
  verb("version", "say which version this is").action((flags: Common) => run(flags, version));
  return program;
}

function addDiagnostics(verb: (name: string, description: string) => Command, run: Run): void {
  verb("flows", "show the flows with the most bytes, and what met each rule")
    .option("-n, --limit <number>", "how many flows", upTo(10_000), 50)
    .action((flags: Common & { readonly limit: number }) => run(flags, (context) => flows(context, flags.limit)));
  verb("profile", "record where the agent's processor time goes")
    .addArgument(new Argument("[action]", "run for some seconds, or start and stop").choices(["run", "start", "stop"]))
    .option("--seconds <number>", "how long to record, at most 120", upTo(120), 10)
    .option("--frequency <hz>", "samples per second of each thread, at most 999", upTo(999), 99)
    .addOption(new Option("--format <format>", "folded stacks or pprof").choices(["folded", "pprof"]).default("folded"))
    .option("--output <file>", "write to a file instead of standard output")
    .action((action: "run" | "start" | "stop" | undefined, flags: ProfileFlags) =>
      run(flags, (context) =>
        profile(context, {
          action: action ?? "run",
          seconds: flags.seconds,
          frequencyHz: flags.frequency,
          format: flags.format,
          file: flags.output ?? null,
        }),
      ),
    );
  verb("debug", "write a file that helps to find a fault: state, counters, log; no keys")
    .option("--output <file>", "where it goes", "weft-debug.json")
    .option("--redact", "leave addresses, public keys and names of hosts out as well")
    .action((flags: Common & { readonly output: string; readonly redact?: boolean }) =>
      run(flags, (context) =>
        debug(context, { file: flags.output, addresses: flags.redact === true ? "redact" : "keep" }),
      ),
    );
}

function configure(program: Command, streams: Streams): void {
  const codes = EXIT_CODE_HELP.map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`).join("\n");
  program.addHelpText("after", `\nExit codes:\n${codes}`);
  for (const command of withAllBelow(program)) {
    command
      .exitOverride()
      .configureOutput({
        writeOut: streams.out,
        writeErr: streams.err,
        outputError: (text, write) => write(text.replace(/^error: /, "weft: ")),
      })
      .showHelpAfterError('("weft help" lists the commands)');
  }
}

function withAllBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

function portNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535)
    throw new InvalidArgumentError("a port is a number from 0 to 65535 (0 = any free one)");
  return value;
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = positive(text);
    if (value > most) throw new InvalidArgumentError(`must be at most ${most}`);
    return value;
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError("must be a whole number above 0");
  return value;
}
