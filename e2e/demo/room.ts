import { accessSync, constants } from "node:fs";

import { runCommand } from "../harness/run-command.ts";
import { findProgram } from "../harness/tools.ts";

/** How to start a program in namespaces of its own: network, mounts and, where it is possible, process ids. */
export type Room = { readonly program: string; readonly args: readonly string[] };

export type RoomAnswer = { readonly ok: true; readonly room: Room } | { readonly ok: false; readonly reason: string };

/**
 * Finds out whether this user may build the demo's closed room here.
 *
 * Root uses plain namespaces; others a user namespace in which they are root.
 */
export async function findRoom(): Promise<RoomAnswer> {
  const missing = NEEDED_PROGRAMS.filter((name) => findProgram(name) === undefined);
  if (missing.length > 0)
    return refuse(`the demo needs these programs, which are not installed: ${missing.join(", ")}.`);
  try {
    accessSync("/dev/net/tun", constants.R_OK | constants.W_OK);
  } catch {
    return refuse("the demo needs read and write access to /dev/net/tun (on a container, pass that device in).");
  }
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? [] : ["--user", "--map-root-user"];
  for (const processes of PROCESS_FLAGS) {
    const args = [...user, "--net", "--mount", ...processes];
    const probe = await runCommand("unshare", [...args, ...PROBE], { timeoutMs: 10_000 });
    if (probe.code === 0) return { ok: true, room: { program: "unshare", args } };
  }
  return refuse(
    asRoot
      ? "the demo needs the right to make network namespaces, which this container or machine does not give to root."
      : "the demo needs user namespaces, which this machine does not allow; run it as root instead.",
  );
}

function refuse(reason: string): RoomAnswer {
  return { ok: false, reason };
}

const NEEDED_PROGRAMS = ["ip", "unshare", "nsenter", "mount", "setpriv"];
/** With process ids of its own, the whole room dies with its first process; some containers do not allow that. */
const PROCESS_FLAGS = [["--pid", "--fork", "--kill-child", "--mount-proc"], []];
/** Fails where the capabilities of a new namespace are only for show. */
const PROBE = ["ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"];
