import { err, type Result } from "@weft/protocol";

import type { LocalRequest } from "../daemon/local-protocol.ts";
import type { StatePaths } from "../settings/paths.ts";
import { createStateStore } from "../state/state-store.ts";
import { askDaemon } from "./daemon-client.ts";
import type { CliFailure } from "./output.ts";

/** {@link askDaemon} for what only a member of a network has: on other hosts the way on is to join, not to start a daemon. */
export async function askMember(
  paths: StatePaths,
  request: LocalRequest,
  onEvent?: (event: unknown) => void,
): Promise<Result<unknown, CliFailure>> {
  const answer = await askDaemon(paths.socket, request, onEvent).answer;
  if (answer.ok || answer.error.code !== "not_running" || createStateStore(paths).loadMembership().ok) return answer;
  return err({
    code: "not_joined",
    message: 'this host belongs to no network; copy the join line from the dashboard ("Add host") and run it',
  });
}
