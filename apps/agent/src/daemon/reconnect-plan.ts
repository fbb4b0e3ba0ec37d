import type { ByeReason, ServerFrame } from "@weft/protocol";

import type { Backoff } from "../stream/backoff.ts";
import { UNPROVEN_WAIT_MS_MAX } from "../stream/handshake.ts";
import type { StreamEnd } from "../stream/open-stream.ts";

/** What the end of a stream means for the future. */
export type EndVerdict =
  | { readonly kind: "retry"; readonly delayMs: number; readonly message: string; readonly standing: Standing }
  /** The membership is over. */
  | { readonly kind: "final"; readonly reason: ByeReason; readonly message: string };

/** Whether the node may go on using its last map meanwhile. */
type Standing = "member" | "suspended";

type Bye = Extract<ServerFrame, { kind: "bye" }>;

/** Decides when to connect again, from how the stream ended and what the server said last. */
export function planReconnect(
  cause: { readonly end: StreamEnd; readonly bye: Bye | null },
  chances: { readonly backoff: Backoff; readonly chance: () => number },
): EndVerdict {
  const { end, bye } = cause;
  const jittered = chances.backoff.nextDelayMs();
  const message = end.message;
  if (bye)
    return afterBye(
      { reason: bye.reason, retryAfterMs: bye.retryAfterMs, message: sentence(bye.reason, bye.message) },
      jittered,
      chances.chance,
    );
  if (end.code === "refused") {
    return afterBye(
      { reason: end.reason, retryAfterMs: end.retryAfterMs, message: sentence(end.reason, end.message) },
      jittered,
      chances.chance,
    );
  }
  if (end.code === "http") {
    // Anybody on the way can answer a request.
    const waitMs = Math.min(end.retryAfterMs, UNPROVEN_WAIT_MS_MAX);
    return { kind: "retry", delayMs: waitMs + jittered, message, standing: "member" };
  }
  // These need a person; asking often would not help.
  if (end.code === "wrong_server" || end.code === "version" || end.code === "channel")
    return { kind: "retry", delayMs: slow(chances.chance), message, standing: "member" };
  return { kind: "retry", delayMs: jittered, message, standing: "member" };
}

function afterBye(
  bye: { readonly reason: ByeReason; readonly retryAfterMs: number; readonly message: string },
  jitteredMs: number,
  chance: () => number,
): EndVerdict {
  const { reason, message } = bye;
  const waitMs = Math.min(bye.retryAfterMs, WAIT_MS_MAX);
  switch (reason) {
    case "removed":
      return { kind: "final", reason, message };
    case "expired":
    case "disabled":
      return { kind: "retry", delayMs: Math.max(waitMs, slow(chance)), message, standing: "suspended" };
    case "restart":
      // The retry time is a window: all agents spread over it.
      return {
        kind: "retry",
        delayMs: waitMs > 0 ? Math.floor(chance() * waitMs) : jitteredMs,
        message,
        standing: "member",
      };
    case "replaced":
    case "unauthorised":
    case "incompatible":
      return { kind: "retry", delayMs: Math.max(waitMs, slow(chance)), message, standing: "member" };
    case "overload":
    case "protocol_error":
    case "agent_stopping":
      return { kind: "retry", delayMs: waitMs + jitteredMs, message, standing: "member" };
  }
}

function sentence(reason: ByeReason, message: string): string {
  return message === "" ? REASONS[reason] : message;
}

/** No server can send a node away for longer. */
const WAIT_MS_MAX = 3_600_000;

/** 30 to 60 s. */
function slow(chance: () => number): number {
  return Math.floor(30_000 + 30_000 * chance());
}

const REASONS: { readonly [reason in ByeReason]: string } = {
  restart: "the server restarts",
  removed: "this node was removed from its network",
  expired: "this node's membership has expired",
  disabled: "this node is disabled",
  replaced: "another agent with the same identity has connected",
  unauthorised: "the server does not know this node",
  incompatible: "the server does not work with this version of the agent",
  overload: "the server is overloaded",
  protocol_error: "the server could not read what the agent sent",
  agent_stopping: "the other side stops",
};
