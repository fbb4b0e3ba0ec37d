import { err, ok, type Result } from "@weft/protocol";

import { startService, stopService } from "../os/service.systemd.ts";
import { spawnDaemon } from "../os/spawn-daemon.ts";
import type { StatePaths } from "../settings/paths.ts";
import { lockHolder } from "../state/lock.ts";
import { isRecord } from "../state/state-store.ts";
import type { CommandContext } from "./context.ts";
import { askDaemon } from "./daemon-client.ts";
import type { CliFailure } from "./output.ts";

type DaemonPlace = Pick<CommandContext, "installation" | "paths">;

/** Starts the daemon in the background, through its service where there is one, and waits until its tunnel is up. */
export async function startInBackground({ installation, paths }: DaemonPlace): Promise<Result<unknown, CliFailure>> {
  const unit = unitFor({ installation, paths });
  const started =
    unit === null ? await spawnDaemon(installation.program, paths.directory) : await startUnit(unit, paths);
  if (!started.ok) return started;
  const ready = await askDaemon(paths.socket, { method: "waitReady", timeoutMs: READY_TIMEOUT_MS }).answer;
  if (ready.ok || ready.error.code !== "timeout") return ready;
  return err({
    code: "timeout",
    message: `${ready.error.message}. The daemon goes on trying; "weft status" shows how it stands, ${logPlace(unit, paths)} tells more`,
  });
}

/** Stops the daemon and waits until it has given its lock back. */
export async function stopDaemon({ installation, paths }: DaemonPlace): Promise<Result<undefined, CliFailure>> {
  const unit = unitFor({ installation, paths });
  const wasRunning = lockHolder(paths.lock) !== null;
  if (unit !== null && wasRunning) {
    const stopped = await stopService(unit);
    if (!stopped.ok) return stopped;
    // The service may not be what runs: somebody can have started a daemon by hand.
    if (lockHolder(paths.lock) === null) return ok(undefined);
  }
  const asked = await askDaemon(paths.socket, { method: "stop" }).answer;
  // A daemon that ends, or has ended, before it answers has done what it was asked for.
  if (!asked.ok && !(wasRunning && asked.error.code === "not_running")) return asked;
  return waitUntil(() => lockHolder(paths.lock) === null, "end", END_TIMEOUT_MS);
}

/** Lines that say under which addresses the host is in its network. */
export function addressLines(status: unknown): string[] {
  if (!isRecord(status)) return [];
  const { network, name, ipv4, ipv6, interface: interfaceName, listenPort } = status;
  return [
    `${text(name)} is in network "${text(network)}"`,
    ...(ipv4 === null ? [] : [`  IPv4       ${text(ipv4)}`]),
    ...(ipv6 === null ? [] : [`  IPv6       ${text(ipv6)}`]),
    `  interface  ${text(interfaceName)}, UDP port ${text(listenPort)}`,
  ];
}

/** The service answers for one state directory; a daemon on another one runs by itself. */
function unitFor({ installation: { record }, paths }: DaemonPlace): string | null {
  return record?.stateDirectory === paths.directory ? record.unit : null;
}

async function startUnit(unit: string, paths: StatePaths): Promise<Result<undefined, CliFailure>> {
  const started = await startService(unit);
  if (!started.ok) return started;
  const listens = await waitUntil(() => lockHolder(paths.lock) !== null, "start", START_TIMEOUT_MS);
  if (!listens.ok)
    return err({ ...listens.error, message: `${listens.error.message}; ${logPlace(unit, paths)} tells why` });
  for (const deadline = performance.now() + START_TIMEOUT_MS; performance.now() < deadline; await nextLook()) {
    const asked = await askDaemon(paths.socket, { method: "status" }).answer;
    if (asked.ok || asked.error.code !== "not_running") break;
  }
  return ok(undefined);
}

async function waitUntil(holds: () => boolean, what: string, withinMs: number): Promise<Result<undefined, CliFailure>> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline)
      return err({ code: "timeout", message: `the daemon did not ${what} within ${withinMs / 1000} s` });
    await nextLook();
  }
  return ok(undefined);
}

const nextLook = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, LOOK_EVERY_MS));

function logPlace(unit: string | null, paths: StatePaths): string {
  return unit === null ? paths.log : '"journalctl -u weft-agent"';
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : "-";
}

const READY_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 10_000;
const END_TIMEOUT_MS = 6_000;
const LOOK_EVERY_MS = 50;
