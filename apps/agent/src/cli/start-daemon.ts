import { err, type Result } from "@weft/protocol";

import { isRecord } from "../state/state-store.ts";
import { spawnDaemon } from "../os/spawn-daemon.ts";
import type { StatePaths } from "../settings/paths.ts";
import { askDaemon } from "./daemon-client.ts";
import type { CliFailure } from "./output.ts";

/** Starts the daemon in the background and waits until its tunnel is up. */
export async function startInBackground(paths: StatePaths): Promise<Result<unknown, CliFailure>> {
  const spawned = await spawnDaemon(paths.directory);
  if (!spawned.ok) return spawned;
  const ready = await askDaemon(paths.socket, { method: "waitReady", timeoutMs: READY_TIMEOUT_MS }).answer;
  if (ready.ok || ready.error.code !== "timeout") return ready;
  return err({
    code: "timeout",
    message: `${ready.error.message}. The daemon goes on trying; "weft status" shows how it stands, ${paths.log} tells more`,
  });
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

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : "-";
}

const READY_TIMEOUT_MS = 15_000;
