import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Files of one agent; all of them live in the state directory. */
export type StatePaths = {
  readonly directory: string;
  readonly identity: string;
  readonly membership: string;
  readonly map: string;
  /** Link profiles of the time before the map. */
  readonly profiles: string;
  /** The host's resolver file before ours. */
  readonly resolverBackup: string;
  readonly runtime: string;
  /** What was changed in the host's routing. */
  readonly roads: string;
  /** Addresses, routes, exit node and names under which the server was reached last. */
  readonly ownSettings: string;
  readonly lock: string;
  readonly socket: string;
  readonly log: string;
};

/**
 * Where state is kept: the option, else the environment, else what the installation chose, else the place that the system
 * has for it.
 */
export function stateDirectory(option: string | undefined, environment: NodeJS.ProcessEnv, installed?: string): string {
  const chosen = [option ?? environment["WEFT_STATE_DIR"], installed].find((path) => path !== undefined && path !== "");
  if (chosen !== undefined) return resolve(chosen);
  if (process.getuid?.() === 0) return "/var/lib/weft";
  return join(environment["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "weft");
}

export function statePaths(directory: string): StatePaths {
  return {
    directory,
    identity: join(directory, "identity.json"),
    membership: join(directory, "membership.json"),
    map: join(directory, "map.bin"),
    profiles: join(directory, "link-profiles.json"),
    resolverBackup: join(directory, "resolver-backup.json"),
    runtime: join(directory, "runtime.json"),
    roads: join(directory, "roads.json"),
    ownSettings: join(directory, "own-settings.bin"),
    lock: join(directory, "daemon.lock"),
    socket: join(directory, "weft.sock"),
    log: join(directory, "weft.log"),
  };
}
