import { randomBytes } from "node:crypto";

import { err, isPeerName, ok, parseJoinKey, type JoinKey, type Result } from "@weft/protocol";

import { readHostFacts } from "../../os/host-facts.ts";
import { parseServerUrl } from "../../settings/server-url.ts";
import { createStateStore, isInterfaceName, type StateStore } from "../../state/state-store.ts";
import { makeDirectory } from "../../state/files.ts";
import { lockHolder } from "../../state/lock.ts";
import { connectWebSocket } from "../../stream/connection.ts";
import { enrol } from "../../stream/enrol.ts";
import type { StreamEnd } from "../../stream/open-stream.ts";
import { systemTimers } from "../../stream/timers.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";
import { addressLines, startInBackground, stopDaemon } from "../daemon-control.ts";

export type JoinOptions = {
  readonly url: string;
  readonly key: string;
  readonly name: string;
  readonly interfaceName: string;
  readonly port: number;
  readonly mode: "background" | "foreground";
};

/** Makes this host a member of a network: keys, enrolment, state on disk, daemon. */
export async function join(context: CommandContext, options: JoinOptions): Promise<CommandOutcome> {
  const joinKey = checkOptions(options);
  if (!joinKey.ok) return joinKey;
  const store = createStateStore(context.paths);
  const free = await checkFree(context, store);
  if (!free.ok) return free;
  const obstacle = context.whyNoTunnel();
  if (obstacle !== null) return err({ code: "permission", message: obstacle });
  const enrolled = await spendKey(store, options, joinKey.value);
  if (!enrolled.ok) return enrolled;
  if (options.mode === "foreground") return ok(await context.runForeground(context.output, context.paths));
  const started = await startInBackground(context);
  if (!started.ok) return started;
  context.output.result(
    typeof started.value === "object" && started.value !== null ? started.value : {},
    addressLines(started.value),
  );
  return ok(EXIT_CODES.ok);
}

function checkOptions(options: JoinOptions): Result<JoinKey, CliFailure> {
  if (options.name !== "" && !isPeerName(options.name)) {
    return err({
      code: "usage",
      message: `"${options.name}" cannot be a name: lower-case letters, digits and dashes, at most 63`,
    });
  }
  if (!isInterfaceName(options.interfaceName))
    return err({
      code: "usage",
      message: `"${options.interfaceName}" cannot be an interface name (at most 15 letters, digits, dashes)`,
    });
  const key = parseJoinKey(options.key);
  if (key.ok) return key;
  const detail = key.error.code === "token_checksum" ? "a character is wrong or missing" : "it is not whole";
  return err({
    code: "bad_key",
    message: `the key of the join line does not read well: ${detail}; copy the whole line from the dashboard`,
  });
}

async function checkFree(context: CommandContext, store: StateStore): Promise<Result<undefined, CliFailure>> {
  const made = makeDirectory(store.paths.directory);
  if (!made.ok)
    return err({
      code: "permission",
      message: `${made.error.message}; try as root, or choose another place with --state-dir`,
    });
  const membership = store.loadMembership();
  if (membership.ok) {
    return err({
      code: "already_joined",
      message: `this host is already joined to ${membership.value.serverUrl}; "weft leave" ends that first`,
    });
  }
  if (membership.error.code !== "missing") return membership;
  if (lockHolder(store.paths.lock) === null) return ok(undefined);
  // A daemon whose node was removed from its network has nothing left to do.
  return stopDaemon(context);
}

async function spendKey(
  store: StateStore,
  options: JoinOptions,
  joinKey: JoinKey,
): Promise<Result<undefined, CliFailure>> {
  const address = parseServerUrl(options.url);
  if (!address.ok) return address;
  const identity = store.ensureIdentity();
  if (!identity.ok) return identity;
  const deps = {
    connect: connectWebSocket,
    timers: systemTimers(),
    random: (length: number) => Uint8Array.from(randomBytes(length)),
  };
  const request = {
    address: address.value,
    joinKey,
    identity: identity.value,
    wantedName: options.name,
    host: readHostFacts(),
  };
  const enrolled = await enrol(deps, request);
  if (!enrolled.ok) return err({ code: enrolled.error.code, message: explain(enrolled.error, options.url) });
  return store.saveMembership({
    serverUrl: options.url,
    serverKey: joinKey.serverKey,
    peerId: enrolled.value.peerId,
    interfaceName: options.interfaceName,
    listenPort: options.port,
  });
}

function explain(end: StreamEnd, url: string): string {
  if (end.code === "unreachable" || end.code === "closed" || end.code === "http" || end.code === "timeout")
    return `cannot reach the server at ${url}: ${end.message}`;
  if (end.code !== "refused") return end.message;
  switch (end.detail) {
    case "enrolment_key_unknown":
      return "the server does not know this key; it may have been revoked. Make a new one in the dashboard";
    case "enrolment_key_expired":
      return "this key has expired. Make a new one in the dashboard";
    case "enrolment_key_used_up":
      return "this key has been used as often as it may be. Make a new one in the dashboard";
    case "address_pool_full":
      return "the network has no free address left";
    default:
      return `the server refuses: ${end.message === "" ? end.reason : end.message}`;
  }
}
