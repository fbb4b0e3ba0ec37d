import { finishOutput, outliveReaders } from "./os/finish-output.ts";
import { RESTORE_VERB, restoreLeftovers } from "./os/resolver-guard.ts";
import { DAEMON_VERB, notifyStarter } from "./os/spawn-daemon.ts";

/**
 * The whole program; `program` is the script that started it. Returns the exit code; the caller sets it. The daemon process never loads the command line's
 * libraries, so that it stays small.
 */
export async function main(argv: readonly string[], program: string): Promise<number> {
  const streams = [process.stdout, process.stderr];
  outliveReaders(streams);
  const code = await run(argv, program);
  await finishOutput(streams);
  return code;
}

async function run(argv: readonly string[], program: string): Promise<number> {
  const [verb, stateDirectory, rest] = argv;
  if (verb === DAEMON_VERB && stateDirectory !== undefined) return runInBackground(stateDirectory);
  if (verb === RESTORE_VERB && stateDirectory !== undefined) {
    restoreLeftovers({ backupPath: stateDirectory, ...(rest === undefined ? {} : { path: rest }) });
    return 0;
  }
  const { runCli } = await import("./cli/program.ts");
  const { whyNoTunnel } = await import("./os/tunnel-rights.linux.ts");
  const { readInstallation } = await import("./os/installation.ts");
  const { confirm } = await import("./cli/confirm.ts");
  return runCli(argv, {
    whyNoTunnel,
    installation: readInstallation(program),
    confirm,
    streams: { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) },
    runForeground: async (output, paths) => {
      const { runDaemon } = await import("./daemon/run-daemon.ts");
      const { exitCodeOf } = await import("./cli/exit-codes.ts");
      let failure: string | null = null;
      const code = await runDaemon({
        stateDirectory: paths.directory,
        logTo: "stderr",
        onStarted: () => {},
        onReady: (line) => void process.stdout.write(`${line}\n`),
        onFailed(reason) {
          failure = reason.code;
          output.failure(reason);
        },
      });
      return code === 0 || failure === null ? (code === 0 ? 0 : 1) : exitCodeOf(failure);
    },
  });
}

async function runInBackground(stateDirectory: string): Promise<number> {
  const { runDaemon } = await import("./daemon/run-daemon.ts");
  const code = await runDaemon({
    stateDirectory,
    logTo: "file",
    onStarted: () => notifyStarter({ kind: "started" }),
    onReady: () => {},
    onFailed: ({ code: failure, message }) => notifyStarter({ kind: "failed", code: failure, message }),
  });
  return code;
}
