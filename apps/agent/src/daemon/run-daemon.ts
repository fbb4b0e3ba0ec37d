import { randomBytes, randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { chooseCipher, chooseLanes, measureCiphers } from "@weft/dataplane";
import { ok, type Result } from "@weft/protocol";

import { concealSetting } from "../settings/conceal.ts";
import { cipherWish, engineTuning, laneWish, type TuningError } from "../settings/engine-tuning.ts";
import { mtuPolicy } from "../settings/interface-mtu.ts";
import { forbiddenJobs } from "../settings/forbidden-jobs.ts";
import { metricsPort } from "../settings/metrics-port.ts";
import { createNamesService } from "../names/names-service.ts";
import { createHostResolver } from "../os/host-resolver.linux.ts";
import { namesMode } from "../settings/names-mode.ts";
import { settingsTrialMs } from "../settings/settings-trial.ts";
import { statePaths, type StatePaths } from "../settings/paths.ts";
import { createStateStore } from "../state/state-store.ts";
import { connectWebSocket } from "../stream/connection.ts";
import { systemTimers } from "../stream/timers.ts";
import { startDaemon, type Daemon, type DaemonDeps } from "./daemon.ts";
import { readHostFacts } from "../os/host-facts.ts";
import type { LocalFailure } from "./local-handler.ts";
import { createLog, fileSink, isLogLevel, type Log } from "./log.ts";
import { realTunnelSystem } from "./tunnel-system.ts";

export type RunOptions = {
  readonly stateDirectory: string;
  /** Where log lines go. */
  readonly logTo: "stderr" | "file";
  readonly onStarted: () => void;
  /** The first map is applied; the text is one line of JSON. */
  readonly onReady: (line: string) => void;
  readonly onFailed: (failure: LocalFailure) => void;
};

/** Runs the daemon in this process until it is told to stop; resolves with the exit code. */
export async function runDaemon(options: RunOptions): Promise<0 | 1> {
  const paths = statePaths(options.stateDirectory);
  const level = process.env["WEFT_LOG"];
  const sink = options.logTo === "file" ? fileSink(paths.log) : (line: string) => void process.stderr.write(line);
  const log = createLog(sink, Date.now, isLogLevel(level) ? level : "info");
  const settings = settingsOf(process.env);
  const started = settings.ok
    ? await startDaemon({
        timers: systemTimers(),
        wallClockMs: Date.now,
        random: (length) => Uint8Array.from(randomBytes(length)),
        chance: Math.random,
        connect: connectWebSocket,
        system: realTunnelSystem,
        store: createStateStore(paths),
        log,
        ...settings.value,
        host: readHostFacts(),
        ...namesOf(process.env, paths),
      })
    : settings;
  if (!started.ok) {
    log.error("start_failed", { code: started.error.code, message: started.error.message });
    options.onFailed(started.error);
    return 1;
  }
  const daemon = started.value;
  const faults = stopOnSignals(daemon, log);
  options.onStarted();
  void announce(daemon, options);
  await daemon.stopped;
  return faults();
}

async function announce(daemon: Daemon, options: RunOptions): Promise<void> {
  const ready = await daemon.ready;
  if (!ready.ok) return options.onFailed(ready.error);
  const { pid, interface: interfaceName, ipv4, ipv6, listenPort, name, network } = daemon.status();
  options.onReady(
    JSON.stringify({ event: "ready", pid, interface: interfaceName, ipv4, ipv6, listenPort, name, network }),
  );
}

/** Returns the exit code that the way of ending asks for. */
function stopOnSignals(daemon: Daemon, log: Log): () => 0 | 1 {
  let code: 0 | 1 = 0;
  const stop = (reason: string): void => {
    // Whatever hangs must not keep the process: what the kernel holds for us goes with it.
    setTimeout(() => process.exit(1), HARD_STOP_MS).unref();
    void daemon.stop(reason);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(signal));
  process.on("SIGHUP", () => log.info("signal_ignored", { signal: "SIGHUP" }));
  process.on("uncaughtException", (error) => {
    code = 1;
    log.error("crash", { message: error.message, stack: error.stack ?? "" });
    stop("a fault of the agent");
  });
  return () => code;
}

const HARD_STOP_MS = 4_500;

/** Who answers names, unless the operator wants none; `settingsOf` has looked at the setting. */
function namesOf(environment: NodeJS.ProcessEnv, paths: StatePaths): Pick<DaemonDeps, "openNames"> {
  const mode = namesMode(environment);
  if (!mode.ok || mode.value === "off") return {};
  const [, program = ""] = process.argv;
  const host = mode.value === "auto" ? createHostResolver({ backupPath: paths.resolverBackup, program }) : null;
  return { openNames: (own) => createNamesService({ ...own, host, randomId: () => randomInt(0x1_0000) }) };
}

/** What the environment sets; the first variable that makes no sense ends the start. */
function settingsOf(
  environment: NodeJS.ProcessEnv,
): Result<
  Pick<
    DaemonDeps,
    "tuning" | "mtuPolicy" | "metricsPort" | "cipher" | "lanes" | "conceal" | "forbiddenJobs" | "settingsTrialMs"
  >,
  TuningError
> {
  const tuning = engineTuning(environment);
  if (!tuning.ok) return tuning;
  const policy = mtuPolicy(environment);
  if (!policy.ok) return policy;
  const port = metricsPort(environment);
  if (!port.ok) return port;
  const forbidden = forbiddenJobs(environment);
  if (!forbidden.ok) return forbidden;
  const trialMs = settingsTrialMs(environment);
  if (!trialMs.ok) return trialMs;
  const wish = cipherWish(environment);
  if (!wish.ok) return wish;
  const wishedLanes = laneWish(environment);
  if (!wishedLanes.ok) return wishedLanes;
  const conceal = concealSetting(environment);
  if (!conceal.ok) return conceal;
  const names = namesMode(environment);
  if (!names.ok) return names;
  const measured = measureCiphers();
  const cipher = chooseCipher(wish.value, measured.ok ? measured.value : []);
  const lanes = chooseLanes(wishedLanes.value, tuning.value.shards ?? Math.min(availableParallelism(), WORKERS_MAX));
  return ok({
    tuning: { ...tuning.value, lanes: lanes.offered },
    mtuPolicy: conceal.value ? { ...policy.value, paddingBytes: conceal.value.profile.s4 } : policy.value,
    metricsPort: port.value,
    forbiddenJobs: forbidden.value,
    settingsTrialMs: trialMs.value,
    cipher,
    lanes,
    conceal: conceal.value,
  });
}

/** Workers of an engine that is told no number. */
const WORKERS_MAX = 8;
