import { randomBytes } from "node:crypto";

import { err, ok, type Result } from "@weft/protocol";

import { readHostFacts } from "../../os/host-facts.ts";
import { parseServerUrl } from "../../settings/server-url.ts";
import { createStateStore, type StateStore } from "../../state/state-store.ts";
import { lockHolder } from "../../state/lock.ts";
import { connectWebSocket } from "../../stream/connection.ts";
import { leaveNetwork } from "../../stream/leave.ts";
import { systemTimers } from "../../stream/timers.ts";
import { askDaemon } from "../daemon-client.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { stopDaemon } from "../daemon-control.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";

/** Ends the membership: the server deletes the peer, then this host forgets its keys. */
export async function leave(context: CommandContext, force: "ask_server" | "forget_anyway"): Promise<CommandOutcome> {
  const left = await endMembership(context, force);
  if (!left.ok) return left;
  const { serverTold } = left.value;
  const note = serverTold
    ? "left the network; keys and map are deleted"
    : "keys and map are deleted; the server was not told, remove the peer in the dashboard";
  context.output.result({ left: true, serverTold }, [note]);
  return ok(EXIT_CODES.ok);
}

/** Tells the server, stops the daemon, forgets the keys; prints nothing. */
export async function endMembership(
  context: CommandContext,
  force: "ask_server" | "forget_anyway",
): Promise<Result<{ readonly serverTold: boolean }, CliFailure>> {
  const store = createStateStore(context.paths);
  const told = await tellServer(store);
  if (!told.ok && (force === "ask_server" || told.error.code === "permission")) return told;
  if (lockHolder(context.paths.lock) !== null) {
    const ended = await stopDaemon(context);
    if (!ended.ok) return ended;
  }
  const wiped = store.wipe();
  return wiped.ok ? ok({ serverTold: told.ok }) : wiped;
}

async function tellServer(store: StateStore): Promise<Result<unknown, CliFailure>> {
  const membership = store.loadMembership();
  if (!membership.ok && membership.error.code === "missing")
    return err({ code: "not_joined", message: "this host belongs to no network" });
  if (!membership.ok) return membership;
  if (lockHolder(store.paths.lock) !== null) return askDaemon(store.paths.socket, { method: "leave" }).answer;
  const identity = store.loadIdentity();
  if (!identity.ok) return identity;
  const address = parseServerUrl(membership.value.serverUrl);
  if (!address.ok) return address;
  const deps = {
    connect: connectWebSocket,
    timers: systemTimers(),
    random: (length: number) => Uint8Array.from(randomBytes(length)),
  };
  const left = await leaveNetwork(deps, {
    address: address.value,
    serverKey: membership.value.serverKey,
    identity: identity.value,
    host: readHostFacts(),
  });
  if (left.ok) return left;
  return err({
    code: left.error.code,
    message: `${left.error.message}; --force forgets the membership on this host only`,
  });
}
