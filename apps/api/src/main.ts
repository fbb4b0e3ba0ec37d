import { createApp } from "./app.ts";
import { restoreCommand } from "./backup/restore-command.ts";
import { readConfig } from "./config.ts";
import type { Config } from "./config.ts";
import { ownerExists } from "./db/users-repository.ts";
import { listen } from "./http/listen.ts";
import { listenForMetrics } from "./metrics/metrics-listener.ts";
import { createLog, messageForLog } from "./log.ts";

const config = readOrExit();
const log = createLog(config.logLevel);
const [command, ...words] = process.argv.slice(2);
if (command === "restore") {
  const say = {
    line: (text: string) => void process.stdout.write(`${text}\n`),
    fault: (text: string) => void process.stderr.write(`${text}\n`),
  };
  process.exit(await restoreCommand(words, config, say));
}
const steps: (() => Promise<void>)[] = [];
let isStopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal, 0));
// Whoever started us with a channel, as `npm start` does, is gone: nobody could stop us any more.
process.once("disconnect", () => void stop("the program that started this one ended", 0));

try {
  const app = await createApp({ config, log });
  steps.push(app.dispose);
  void app.databaseLost.then(() => stop("the embedded database ended", 1));
  const listening = await listen(app.server, { ...config.listen, socketPath: config.socketPath });
  steps.push(listening.dispose);
  if (config.metricsListen) {
    const onError = (err: unknown) => log.error({ event: "metrics_failed", err });
    const metrics = await listenForMetrics(config.metricsListen, { text: app.metrics, onError });
    steps.push(metrics.dispose);
    log.info({ event: "metrics", host: config.metricsListen.host, port: metrics.port });
  }
  const url = config.publicUrl ?? listening.url;
  const hasOwner = await ownerExists(app.deps.database.db);
  const setupUrl = hasOwner ? undefined : `${url}/setup?setup=${encodeURIComponent(config.setupToken)}`;
  log.info({ event: "listening", url, port: listening.port, ...(setupUrl && { setupUrl }) });
} catch (error) {
  log.fatal({ event: "start_failed", err: error }, error instanceof Error ? messageForLog(error) : "could not start");
  await stop("start failed", 1);
}

function readOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}

/** Stops everything in reverse. A step that hangs must not keep the process: what is acknowledged is on disk. */
async function stop(reason: string, exitCode: number): Promise<never> {
  if (isStopping) return new Promise(() => undefined);
  isStopping = true;
  log.info({ event: "stopping", reason });
  setTimeout(() => process.exit(exitCode || 1), 5_000).unref();
  for (const step of steps.toReversed()) {
    await step().catch((error: unknown) => log.error({ event: "stop_failed", err: error }));
  }
  log.info({ event: "stopped" });
  return process.exit(exitCode);
}
